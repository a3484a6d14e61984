import type { ServerResponse } from 'node:http';
import { isObject } from '../../../src/base/json/json.ts';
import { startUpstream, type UpstreamServer } from '../upstream-server.ts';
import { streamOf } from '../wire/responses/streamed.ts';

type Members = Readonly<Record<string, unknown>>;

export type ResponsesReply =
  | { readonly output: readonly Members[]; readonly more?: Members }
  | { readonly status: number; readonly error: unknown; readonly headers?: Record<string, string> }
  /** The raw text of a stream that stays open. */
  | { readonly open: string }
  | { readonly stream: string };

/** An upstream with OpenAI's Responses API. `reply` gets each request and the number of earlier ones. */
export async function startResponsesUpstream(
  reply: (body: Members, count: number) => ResponsesReply | Promise<ResponsesReply>,
): Promise<UpstreamServer> {
  let count = 0;
  return await startUpstream(async (request, response) => {
    if (request.url !== '/v1/responses') {
      sendJson(response, 404, {
        error: { message: `no ${request.url}`, type: 'invalid_request_error', param: null, code: null },
      });
      return;
    }
    const body: unknown = JSON.parse(request.body);
    const given = isObject(body) ? body : {};
    send(response, await reply(given, count++), given);
  });
}

function send(response: ServerResponse, reply: ResponsesReply, body: Members): void {
  if ('status' in reply) {
    sendJson(response, reply.status, reply.error, reply.headers);
    return;
  }
  const whole = 'output' in reply ? responseTo(body, reply.output, reply.more) : undefined;
  if (whole !== undefined && body['stream'] !== true) {
    sendJson(response, 200, whole);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', ...ids });
  if ('open' in reply) response.write(reply.open);
  else response.end('stream' in reply ? reply.stream : whole === undefined ? '' : streamOf(whole, 4));
}

/** A response that repeats the request's settings and the API's defaults. */
function responseTo(body: Members, output: readonly Members[], more: Members = {}) {
  const tools = Array.isArray(body['tools']) ? body['tools'] : [];
  return {
    id: 'resp_68a1f0c2',
    object: 'response',
    created_at: 1_760_000_000,
    status: 'completed',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    model: `${String(body['model'])}-2026-01-01`,
    output,
    parallel_tool_calls: body['parallel_tool_calls'] ?? true,
    previous_response_id: null,
    prompt_cache_key: body['prompt_cache_key'] ?? null,
    reasoning: { effort: null, summary: null },
    service_tier: 'default',
    store: body['store'] ?? true,
    temperature: 1,
    text: body['text'] ?? { format: { type: 'text' }, verbosity: 'medium' },
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: tools.map((tool: unknown) =>
      isObject(tool) && tool['type'] === 'function' ? { description: null, strict: true, ...tool } : tool,
    ),
    top_logprobs: 0,
    top_p: 1,
    truncation: 'disabled',
    usage: {
      input_tokens: 36,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 87,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 123,
    },
    user: body['user'] ?? null,
    metadata: body['metadata'] ?? {},
    ...more,
  };
}

export function said(text: string, more: Members = {}): Members {
  const content = [{ type: 'output_text', annotations: [], logprobs: [], text }];
  return {
    id: `msg_${text.length}`,
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content,
    ...more,
  };
}

export function called(name: string, args: unknown, id = 1): Members {
  const spelt = typeof args === 'string' ? args : JSON.stringify(args);
  return {
    id: `fc_${id}`,
    type: 'function_call',
    status: 'completed',
    arguments: spelt,
    call_id: `call_${id}`,
    name,
  };
}

export function thought(text: string): Members {
  return { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text }] };
}

const ids = { 'x-request-id': 'req_0123456789', 'openai-processing-ms': '12' };

function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...ids, ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}
