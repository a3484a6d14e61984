/** The native word for why a model stopped; a word of the server's own stays as it is. */
export function finishWordOf(reason: string): string {
  return nativeWords.get(reason) ?? reason;
}

/** The endpoint's word; the native `tool_use` is that of the newer form. */
export function finishReasonOf(word: string): string {
  return wireWords.get(word) ?? word;
}

/** Whether the word is one of those that say why a model stopped, and nothing else. */
export function isKnownFinish(reason: string): boolean {
  return nativeWords.has(reason) || reason === 'error';
}

const nativeWords = new Map([
  ['stop', 'stop'],
  ['length', 'max_output_tokens'],
  ['function_call', 'tool_use'],
  ['tool_calls', 'tool_use'],
  ['content_filter', 'safety'],
]);

const wireWords = new Map([...nativeWords].map(([wire, word]) => [word, wire]));
