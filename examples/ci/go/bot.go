// Command echo is a bot that repeats what people write, with long polling.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"
)

type bot struct {
	baseURL, token string
}

type update struct {
	UpdateType string `json:"update_type"`
	Message    struct {
		Recipient struct {
			ChatID int64 `json:"chat_id"`
		} `json:"recipient"`
		Body struct {
			Text string `json:"text"`
		} `json:"body"`
	} `json:"message"`
}

// call calls an endpoint, and repeats the call after a server error.
func (b bot) call(method, path string, query url.Values, body, result any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return err
	}
	for attempt := 0; ; attempt++ {
		request, err := http.NewRequest(method, b.baseURL+path+"?"+query.Encode(), bytes.NewReader(encoded))
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", b.token)
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		if response.StatusCode >= 500 && attempt < 4 {
			response.Body.Close()
			time.Sleep(100 * time.Millisecond << attempt)
			continue
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s %s: %s", method, path, response.Status)
		}
		return json.NewDecoder(response.Body).Decode(result)
	}
}

func (b bot) handle(u update) error {
	if u.UpdateType != "message_created" {
		return nil
	}
	query := url.Values{"chat_id": {strconv.FormatInt(u.Message.Recipient.ChatID, 10)}}
	message := map[string]string{"text": "You said: " + u.Message.Body.Text}
	return b.call(http.MethodPost, "/messages", query, message, &struct{}{})
}

func (b bot) run() error {
	query := url.Values{}
	for {
		var page struct {
			Updates []update `json:"updates"`
			Marker  int64    `json:"marker"`
		}
		if err := b.call(http.MethodGet, "/updates", query, nil, &page); err != nil {
			return err
		}
		for _, u := range page.Updates {
			if err := b.handle(u); err != nil {
				return err
			}
		}
		query.Set("marker", strconv.FormatInt(page.Marker, 10))
	}
}

func main() {
	log.Fatal(bot{os.Getenv("BOT_BASE_URL"), os.Getenv("BOT_TOKEN")}.run())
}
