import { once } from 'node:events';
import { createServer } from 'node:http';

export interface ModelCall {
  /** Each call of a real model has an id of its own, also where the model repeats a call. */
  readonly id: string;
  /** A tool of the MCP server `signalbox`. */
  readonly tool: string;
  readonly args: object;
}

/** The request of an agent for the next turn of its model. */
export interface Turn {
  /** The text of each result in the conversation, by the id of the call. */
  readonly results: ReadonlyMap<string, string>;
  /** Answers with calls, or with a last word if there are none. */
  readonly answer: (calls: readonly ModelCall[]) => void;
}

/** A model on loopback with Anthropic's Messages API and OpenAI's Responses API. A turn may wait for its answer. */
export async function openModel(take: (turn: Turn) => void) {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const api = apis.find(({ path }) => request.url?.startsWith(path));
    if (api === undefined) return void response.writeHead(404).end('{}');
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const answer = (calls: readonly ModelCall[]) => {
      for (const event of api.events(calls))
        response.write(`event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`);
      response.end();
    };
    const body = JSON.parse(Buffer.concat(chunks).toString() || '{}');
    // Claude Code also asks for titles and the like, without tools.
    if (body.tools?.length > 0) take({ results: new Map(api.results(body)), answer });
    else answer([]);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

type Item = Readonly<Record<string, unknown>>;

interface Api {
  readonly path: string;
  readonly results: (body: {
    readonly messages: readonly Item[];
    readonly input: readonly Item[];
  }) => Result[];
  readonly events: (calls: readonly ModelCall[]) => readonly Item[];
}

type Result = [id: string, text: string];

const apis: readonly Api[] = [
  {
    path: '/v1/messages',
    results: ({ messages }) =>
      messages.flatMap(({ content }) => resultsIn(content, 'tool_use_id', 'content')),
    events: (calls) => {
      const usage = { input_tokens: 1, output_tokens: 1 };
      const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage };
      const stop_reason = calls.length > 0 ? 'tool_use' : 'end_turn';
      const blocks = calls.map(({ id, tool, args }) => ({
        content_block: { type: 'tool_use', id, name: `mcp__signalbox__${tool}`, input: {} },
        delta: { type: 'input_json_delta', partial_json: JSON.stringify(args) },
      }));
      const said = { content_block: { type: 'text', text: '' }, delta: { type: 'text_delta', text: 'done' } };
      return [
        { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
        ...(calls.length > 0 ? blocks : [said]).flatMap(({ content_block, delta }, index) => [
          { type: 'content_block_start', index, content_block },
          { type: 'content_block_delta', index, delta },
          { type: 'content_block_stop', index },
        ]),
        { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
        { type: 'message_stop' },
      ];
    },
  },
  {
    path: '/v1/responses',
    results: ({ input }) => resultsIn(input, 'call_id', 'output'),
    events: (calls) => {
      const done = { status: 'completed' };
      const called = calls.map(({ id, tool, args }) => ({
        ...{ type: 'function_call', id: `item_${id}`, call_id: id, ...done },
        ...{ namespace: 'mcp__signalbox', name: tool, arguments: JSON.stringify(args) },
      }));
      const content = [{ type: 'output_text', text: 'done', annotations: [] }];
      const said = { type: 'message', id: 'msg', role: 'assistant', content, ...done };
      const output = calls.length > 0 ? called : [said];
      const response = { id: 'resp', object: 'response', status: 'in_progress', output: [] };
      const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
      return [
        { type: 'response.created', response },
        ...output.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item })),
        { type: 'response.completed', response: { ...response, ...done, output, usage } },
      ];
    },
  },
];

function resultsIn(items: unknown, idKey: string, textKey: string): Result[] {
  if (!Array.isArray(items)) return [];
  return items
    .filter((item: Item) => typeof item[idKey] === 'string' && textKey in item)
    .map((item: Item) => [String(item[idKey]), textOf(item[textKey])]);
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return String(content);
  return content.map((part: Item) => String(part['text'] ?? '')).join('\n');
}
