"""A bot that repeats what people write, with long polling."""

import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request


class Bot:
    def __init__(self, base_url: str, token: str) -> None:
        self.base_url = base_url
        self.token = token

    def call(self, method: str, path: str, body: object = None, **query: object) -> dict:
        """Calls an endpoint, and repeats the call after a server error."""
        request = urllib.request.Request(
            f"{self.base_url}{path}?{urllib.parse.urlencode(query)}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": self.token, "Content-Type": "application/json"},
        )
        for attempt in range(5):
            try:
                with urllib.request.urlopen(request, timeout=60) as response:
                    return json.load(response)
            except urllib.error.HTTPError as error:
                if error.code < 500 or attempt == 4:
                    raise
                time.sleep(0.1 * 2**attempt)
        raise AssertionError("unreachable")

    def handle(self, update: dict) -> None:
        if update["update_type"] == "message_created":
            text = update["message"]["body"].get("text")
            chat_id = update["message"]["recipient"]["chat_id"]
            self.call("POST", "/messages", {"text": f"You said: {text}"}, chat_id=chat_id)

    def run(self) -> None:
        query: dict = {}
        while True:
            page = self.call("GET", "/updates", **query)
            for update in page["updates"]:
                self.handle(update)
            query = {"marker": page["marker"]}


if __name__ == "__main__":
    Bot(os.environ["BOT_BASE_URL"], os.environ["BOT_TOKEN"]).run()
