import { messagesOf, noteMembers, type ReadSample, textsOf, toolCallsOf } from './sample.ts';

/** A test case or golden of DeepEval’s, in the spelling of Python or of JSON. */
export const readDeepEvalSample: ReadSample = (row) => {
  const { value, at, notes } = row;
  const either = (snake: string, camel: string): unknown => value[snake] ?? value[camel];
  const messages = messagesOf(value['input']);
  if (messages === undefined) {
    notes.add('error', at, 'a test case whose `input` is no text is left out');
    return undefined;
  }
  noteMembers(row, ['mcp_servers', 'multimodal', 'scenario', 'turns']);
  const contexts = textsOf(either('retrieval_context', 'retrievalContext'));
  const { name } = value;
  return {
    id: typeof name === 'string' ? name : undefined,
    messages,
    answer: textsOf(either('actual_output', 'actualOutput'))[0],
    expected: textsOf(either('expected_output', 'expectedOutput')),
    choices: [],
    contexts: contexts.length > 0 ? contexts : textsOf(value['context']),
    toolCalls: toolCallsOf(either('tools_called', 'toolsCalled')),
    expectedTools: toolCallsOf(either('expected_tools', 'expectedTools')).map(({ name: tool }) =>
      String(tool),
    ),
    tags: textsOf(value['tags']),
  };
};

/** A sample of Ragas’, of one turn or several, in its names of today and of before. */
export const readRagasSample: ReadSample = (row) => {
  const { value, at, notes } = row;
  const messages = messagesOf(value['user_input'] ?? value['question']);
  if (messages === undefined) {
    notes.add('error', at, 'a sample whose `user_input` is neither a text nor messages of texts is left out');
    return undefined;
  }
  noteMembers(row, ['rubrics', 'reference_topics']);
  const last = messages.at(-1);
  const isTalk = last?.role === 'assistant' && messages.length > 1;
  return {
    id: undefined,
    messages: isTalk ? messages.slice(0, -1) : messages,
    answer: textsOf(value['response'] ?? value['answer'])[0] ?? (isTalk ? last.content : undefined),
    expected: textsOf(value['reference'] ?? value['ground_truth'] ?? value['ground_truths']),
    choices: [],
    contexts: textsOf(value['retrieved_contexts'] ?? value['contexts']),
    toolCalls: [],
    expectedTools: toolCallsOf(value['reference_tool_calls']).map(({ name }) => String(name)),
    tags: [],
  };
};
