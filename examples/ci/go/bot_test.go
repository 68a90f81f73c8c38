package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// emulator is the emulator as a child process.
type emulator struct {
	t     *testing.T
	URL   string `json:"url"`
	Token string `json:"token"`
}

func startEmulator(t *testing.T) *emulator {
	command := os.Getenv("EMULATOR_COMMAND")
	if command == "" {
		command = "node_modules/.bin/colloquy-emulator"
	}
	words := append(strings.Fields(command), "--json")
	process := exec.Command(words[0], words[1:]...)
	process.Stderr = os.Stderr
	stdout, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		process.Process.Signal(os.Interrupt)
		process.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	e := &emulator{t: t}
	if err := json.Unmarshal(line, e); err != nil {
		t.Fatal(err)
	}
	return e
}

// call calls a path under /_emulator.
func (e *emulator) call(method, path, body string, result any) {
	e.t.Helper()
	request, err := http.NewRequest(method, e.URL+"/_emulator"+path, bytes.NewBufferString(body))
	if err != nil {
		e.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		e.t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		e.t.Fatalf("%s %s: %s", method, path, response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(result); err != nil {
		e.t.Fatal(err)
	}
}

// nextMessage waits for at most 10 seconds until the user sees a message of the bot.
func (e *emulator) nextMessage(userID int64) string {
	e.t.Helper()
	var page struct {
		Seen []struct {
			Type    string `json:"type"`
			Message struct {
				Body struct {
					Text string `json:"text"`
				} `json:"body"`
			} `json:"message"`
		} `json:"seen"`
	}
	e.call(http.MethodGet, fmt.Sprintf("/seen?user_id=%d&from=0&wait_ms=10000", userID), "", &page)
	for _, event := range page.Seen {
		if event.Type == "message" {
			return event.Message.Body.Text
		}
	}
	e.t.Fatal("the bot sent no message")
	return ""
}

func (e *emulator) say(userID int64, text string) {
	e.t.Helper()
	e.call(http.MethodPost, "/messages", fmt.Sprintf(`{"user_id":%d,"text":%q}`, userID, text), &struct{}{})
}

func start(t *testing.T) (*emulator, int64) {
	e := startEmulator(t)
	go bot{e.URL, e.Token}.run()
	var ann struct {
		UserID int64 `json:"user_id"`
	}
	e.call(http.MethodPost, "/users", `{"first_name":"Ann"}`, &ann)
	return e, ann.UserID
}

func TestRepeatsAMessage(t *testing.T) {
	e, ann := start(t)
	e.say(ann, "Good morning")
	if got := e.nextMessage(ann); got != "You said: Good morning" {
		t.Errorf("got %q", got)
	}
}

func TestAnswersAlthoughThePlatformFailsTwice(t *testing.T) {
	e, ann := start(t)
	e.call(http.MethodPut, "/faults", `[{"endpoint":"Messages.send","times":2,"status":503}]`, &struct{}{})
	e.say(ann, "Good morning")
	if got := e.nextMessage(ann); got != "You said: Good morning" {
		t.Errorf("got %q", got)
	}
	var report struct {
		Faults []struct {
			Applied int `json:"applied"`
		} `json:"faults"`
	}
	e.call(http.MethodGet, "/faults", "", &report)
	if report.Faults[0].Applied != 2 {
		t.Errorf("the fault was applied %d times", report.Faults[0].Applied)
	}
}
