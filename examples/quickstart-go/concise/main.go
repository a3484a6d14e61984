// Eval. Scores 1 for up to params.max_words words (default 40), and less for longer texts.
package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	"quickstart/signalbox"
)

func concise(_ context.Context, request signalbox.Object) (any, error) {
	limit := 40.0
	if request.Get("params", "max_words") != nil {
		limit = request.Number("params", "max_words")
	}
	words := len(strings.Fields(request.Text("content")))
	if words == 0 {
		// Abstain if there is nothing to judge: an unscored case does not enter the mean.
		return signalbox.Abstain("there is no text to score"), nil
	}
	score := signalbox.Score(math.Min(1, limit/float64(words)))
	detail := fmt.Sprintf("%d words of %v", words, limit)
	return score.With("detail", detail).With("data", map[string]any{"words": words}), nil
}

func main() { signalbox.Evaluator(concise).Run() }
