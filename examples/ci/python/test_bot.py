import json
import os
import shlex
import subprocess
import sys
import unittest
import urllib.request
from pathlib import Path

COMMAND = shlex.split(os.environ.get("EMULATOR_COMMAND", "node_modules/.bin/colloquy-emulator"))


class Emulator:
    """The emulator as a child process, and its calls under /_emulator."""

    def __init__(self) -> None:
        self.process = subprocess.Popen([*COMMAND, "--json"], stdout=subprocess.PIPE, text=True)
        self.address = json.loads(self.process.stdout.readline())

    def call(self, path: str, body: object = None, method: str | None = None) -> dict:
        request = urllib.request.Request(
            f"{self.address['url']}/_emulator{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
        )
        with urllib.request.urlopen(request) as response:
            return json.load(response)

    def next_message(self, user_id: int, position: int) -> str:
        """Waits for at most 10 seconds until the user sees a message of the bot."""
        seen = self.call(f"/seen?user_id={user_id}&from={position}&wait_ms=10000")["seen"]
        messages = [event["message"]["body"]["text"] for event in seen if event["type"] == "message"]
        return messages[0]

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()


class EchoTest(unittest.TestCase):
    def setUp(self) -> None:
        self.emulator = Emulator()
        self.addCleanup(self.emulator.stop)
        address = self.emulator.address
        env = {**os.environ, "BOT_BASE_URL": address["url"], "BOT_TOKEN": address["token"]}
        bot = subprocess.Popen([sys.executable, str(Path(__file__).with_name("bot.py"))], env=env)
        self.addCleanup(bot.wait)
        self.addCleanup(bot.terminate)
        self.ann = self.emulator.call("/users", {"first_name": "Ann"})["user_id"]

    def test_repeats_a_message(self) -> None:
        self.emulator.call("/messages", {"user_id": self.ann, "text": "Good morning"})
        self.assertEqual(self.emulator.next_message(self.ann, 0), "You said: Good morning")

    def test_answers_although_the_platform_fails_twice(self) -> None:
        self.emulator.call("/faults", [{"endpoint": "Messages.send", "times": 2, "status": 503}], "PUT")
        self.emulator.call("/messages", {"user_id": self.ann, "text": "Good morning"})
        self.assertEqual(self.emulator.next_message(self.ann, 0), "You said: Good morning")
        self.assertEqual(self.emulator.call("/faults")["faults"][0]["applied"], 2)


if __name__ == "__main__":
    unittest.main()
