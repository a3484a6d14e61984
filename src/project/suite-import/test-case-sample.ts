import { messagesOf, type ReadSample, textsOf, textsOfCell, toolCallsOf } from './sample.ts';

/** A test case or golden of DeepEval’s, in the spelling of Python or of JSON, or a row of a table that `save_as` wrote. */
export const readDeepEvalSample: ReadSample = (row) => {
  const either = (snake: string, camel: string) => (row.at(snake).isGiven ? row.at(snake) : row.at(camel));
  const messages = messagesOf(row.at('input'));
  if (messages === undefined) {
    row.leave('a test case whose `input` is no text is left out');
    return undefined;
  }
  const contexts = textsOfCell(either('retrieval_context', 'retrievalContext'));
  const [answer] = textsOf(either('actual_output', 'actualOutput'));
  return {
    id: row.at('name').text() || undefined,
    messages,
    answer: answer === '' ? undefined : answer,
    expected: textsOf(either('expected_output', 'expectedOutput')).filter((each) => each !== ''),
    choices: [],
    // `context` is what an answer should go by: it stands in for what was found only where nothing was.
    contexts: contexts.length > 0 ? contexts : textsOfCell(row.at('context')),
    toolCalls: toolCallsOf(either('tools_called', 'toolsCalled')),
    expectedTools: toolCallsOf(either('expected_tools', 'expectedTools')).map(({ name }) => String(name)),
    tags: textsOfCell(row.at('tags')),
  };
};

/** A sample of Ragas’, of one turn or several, in its names of today and of before. */
export const readRagasSample: ReadSample = (row) => {
  const first = (...keys: readonly string[]) =>
    row.at(keys.find((key) => row.at(key).isGiven) ?? keys[0] ?? '');
  const messages = messagesOf(first('user_input', 'question'));
  if (messages === undefined) {
    row.leave('a sample whose `user_input` is neither a text nor messages of texts is left out');
    return undefined;
  }
  const last = messages.at(-1);
  const isTalk = last?.role === 'assistant' && messages.length > 1;
  const answer = first('response', 'answer').text() || undefined;
  return {
    id: undefined,
    messages: isTalk ? messages.slice(0, -1) : messages,
    answer: answer ?? (isTalk ? last.content : undefined),
    expected: textsOf(first('reference', 'ground_truth', 'ground_truths')).filter((each) => each !== ''),
    choices: [],
    contexts: textsOfCell(first('retrieved_contexts', 'contexts')),
    toolCalls: [],
    expectedTools: toolCallsOf(row.at('reference_tool_calls')).map(({ name }) => String(name)),
    tags: [],
  };
};
