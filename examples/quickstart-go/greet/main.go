// Tool. Answers {"args": {"name": "Ada", "language": "fr"}} with "Bonjour, Ada !".
package main

import (
	"context"
	"strings"

	"quickstart/signalbox"
)

var greetings = map[any]string{
	nil: "Hello, NAME!", "en": "Hello, NAME!", "de": "Hallo, NAME!", "es": "¡Hola, NAME!", "fr": "Bonjour, NAME !", "ja": "NAMEさん、こんにちは！",
}

func greet(_ context.Context, request signalbox.Object) (any, error) {
	greeting, is := greetings[request.Get("args", "language")]
	if !is {
		return nil, signalbox.Fail("cannot greet in that language")
	}
	return strings.Replace(greeting, "NAME", request.Text("args", "name"), 1), nil
}

func main() { signalbox.Tool(greet).Run() }
