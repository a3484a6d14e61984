import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import {
  acceptedContent,
  createMcpHandler,
  createRequestStateCodec,
  hostHeaderValidationResponse,
  inputRequired,
  isLegacyRequest,
  localhostAllowedHostnames,
  McpServer,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  type Result,
  type ServerContext,
  type ServerNotifier,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

// A server with everything that the conformance suites ask for, in both eras: `everything.ts [--stdio]`.
// Over HTTP, clients of 2025 have sessions. Prints its URL.

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const wav = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';
const states = createRequestStateCodec<{ readonly step: number }>({ key: randomBytes(32) });

const text = (value: string) => ({ type: 'text', text: value });
const content = (...blocks: readonly object[]) => ({ content: blocks });
const said = (value: string) => content(text(value));
const form = (message: string, properties: object, required = Object.keys(properties)) => ({
  message,
  requestedSchema: { type: 'object', properties, required },
});
const ask = (message: string, properties: object) => ({
  method: 'elicitation/create',
  params: form(message, properties),
});
const sample = (words: string, maxTokens = 100) => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: text(words) }], maxTokens },
});
const listRoots = { method: 'roots/list', params: {} };
const string = { type: 'string' };

type Call = (context: ServerContext, args: Readonly<Record<string, unknown>>) => unknown;

/** Asks for what is missing among the responses; then answers. */
function needing(requests: Readonly<Record<string, object>>, answer: Call, step?: number): Call {
  return async (context, args) => {
    const responses = context.mcpReq.inputResponses ?? {};
    const isRight = (key: string) =>
      key in requests && 'params' in (requests[key] ?? {}) && 'method' in (requests[key] ?? {})
        ? (requests[key] as { method: string }).method !== 'elicitation/create' ||
          acceptedContent(responses, key) !== undefined
        : false;
    const isWhole = Object.keys(requests).every((key) => key in responses && isRight(key));
    const state = await context.mcpReq.requestState<{ step: number }>();
    if (isWhole && (step === undefined || state?.step === step)) return await answer(context, args);
    const requestState = step === undefined ? {} : { requestState: await states.mint({ step }) };
    return inputRequired({ inputRequests: requests as never, ...requestState });
  };
}

/** Asks a client of 2025 while its call waits. */
const asking = (
  request: (args: Readonly<Record<string, unknown>>) => object,
  word: (given: never) => string,
): Call => {
  return async ({ mcpReq }, args) => said(word((await mcpReq.send(request(args) as never)) as never));
};
const elicited =
  (prefix: string) =>
  ({ action, content: given = {} }: { action: string; content?: object }) =>
    `${prefix}: action=${action}, content=${JSON.stringify(given)}`;

interface FixtureTool {
  readonly call: Call;
  readonly inputSchema?: object;
  readonly properties?: object;
  readonly outputSchema?: object;
  readonly annotations?: object;
}

const options = ['option1', 'option2', 'option3'];
const titled = [
  { const: 'value1', title: 'First Option' },
  { const: 'value2', title: 'Second Option' },
  { const: 'value3', title: 'Third Option' },
];
const enums = {
  untitledSingle: { type: 'string', enum: options },
  titledSingle: { type: 'string', oneOf: titled },
  legacyEnum: {
    type: 'string',
    enum: ['opt1', 'opt2', 'opt3'],
    enumNames: ['Option One', 'Option Two', 'Option Three'],
  },
  untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
  titledMulti: { type: 'array', items: { anyOf: titled } },
};
const defaults = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
};
const embedded = {
  uri: 'test://embedded-resource',
  mimeType: 'text/plain',
  text: 'This is an embedded resource content.',
};
const mixed = {
  uri: 'test://mixed-content-resource',
  mimeType: 'application/json',
  text: '{"test":"data","value":123}',
};
const nameForm = ask('What is your name?', { name: string });
const hello: Call = ({ mcpReq }) =>
  said(`Hello, ${acceptedContent(mcpReq.inputResponses, 'user_name')?.['name']}!`);
const answered: Call = ({ mcpReq }) => said(`Answers: ${JSON.stringify(mcpReq.inputResponses)}`);

const log: Call = async ({ mcpReq }) => {
  for (const step of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
    await mcpReq.log('info', step);
    await sleep(50);
  }
  return said('Logged.');
};

const schema2020 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: string, city: string } } },
  properties: {
    name: string,
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: string,
    email: string,
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema.
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

function toolsOf(notify: ServerNotifier | undefined): Readonly<Record<string, FixtureTool>> {
  return {
    test_simple_text: { call: () => said('This is a simple text response for testing.') },
    test_image_content: { call: () => content({ type: 'image', data: png, mimeType: 'image/png' }) },
    test_audio_content: { call: () => content({ type: 'audio', data: wav, mimeType: 'audio/wav' }) },
    test_embedded_resource: { call: () => content({ type: 'resource', resource: embedded }) },
    test_multiple_content_types: {
      call: () =>
        content(
          text('Multiple content types test:'),
          { type: 'image', data: png, mimeType: 'image/png' },
          { type: 'resource', resource: mixed },
        ),
    },
    test_error_handling: {
      call: () => ({ ...said('This tool intentionally returns an error for testing'), isError: true }),
    },
    test_tool_with_logging: { call: log },
    test_logging_tool: { call: log },
    test_tool_with_progress: {
      call: async ({ mcpReq: { _meta, notify: send } }) => {
        const progressToken = _meta?.progressToken;
        for (const progress of [0, 50, 100]) {
          if (progressToken !== undefined) {
            const message = `Completed step ${progress} of 100`;
            await send({
              method: 'notifications/progress',
              params: { progressToken, progress, total: 100, message },
            });
          }
          await sleep(50);
        }
        return said('Done.');
      },
    },
    test_sampling: {
      properties: { prompt: string },
      call: asking(
        ({ prompt }) => sample(String(prompt)),
        ({ content: given }: { content: { text?: string } }) => `LLM response: ${given.text}`,
      ),
    },
    test_elicitation: {
      properties: { message: string },
      call: asking(
        ({ message }) => ask(String(message), { username: string, email: string }),
        elicited('User response'),
      ),
    },
    test_elicitation_sep1034_defaults: {
      call: asking(
        () => ({ method: 'elicitation/create', params: form('Review the form', defaults, []) }),
        elicited('Elicitation completed'),
      ),
    },
    test_elicitation_sep1330_enums: {
      call: asking(
        () => ({ method: 'elicitation/create', params: form('Choose', enums, []) }),
        elicited('Elicitation completed'),
      ),
    },
    test_input_required_result_elicitation: { call: needing({ user_name: nameForm }, hello) },
    test_input_required_result_sampling: {
      call: needing({ capital_question: sample('What is the capital of France?') }, answered),
    },
    test_input_required_result_list_roots: { call: needing({ client_roots: listRoots }, answered) },
    test_input_required_result_request_state: {
      call: needing(
        { confirm: ask('Please confirm', { ok: { type: 'boolean' } }) },
        () => said('state-ok'),
        1,
      ),
    },
    test_input_required_result_tampered_state: {
      call: needing(
        { confirm: ask('Please confirm', { ok: { type: 'boolean' } }) },
        () => said('state-ok'),
        1,
      ),
    },
    test_input_required_result_multiple_inputs: {
      call: needing(
        { user_name: nameForm, greeting: sample('Generate a greeting', 50), client_roots: listRoots },
        answered,
        1,
      ),
    },
    test_input_required_result_multi_round: {
      call: async (context, args) => {
        const state = await context.mcpReq.requestState<{ step: number }>();
        const second = needing(
          { step2: ask('Step 2: What is your favorite color?', { color: string }) },
          answered,
          2,
        );
        const first = needing({ step1: ask('Step 1: What is your name?', { name: string }) }, second, 1);
        return await (state?.step === 2 ? second : first)(context, args);
      },
    },
    test_input_required_result_capabilities: {
      call: async (context, args) => {
        const { elicitation, sampling } = capabilitiesOf(context);
        const requests = {
          ...(elicitation !== undefined && { user_name: nameForm }),
          ...(sampling !== undefined && { greeting: sample('Generate a greeting', 50) }),
        };
        return await needing(requests, answered)(context, args);
      },
    },
    test_missing_capability: {
      call: (context) => {
        if (capabilitiesOf(context).sampling !== undefined) return said('Sampling is there.');
        throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
      },
    },
    test_streaming_elicitation: { call: needing({ user_name: nameForm }, hello) },
    test_trigger_tool_change: {
      call: () => {
        notify?.toolsChanged();
        return said('The tools have changed.');
      },
    },
    test_trigger_prompt_change: {
      call: () => {
        notify?.promptsChanged();
        return said('The prompts have changed.');
      },
    },
    test_x_mcp_header: {
      inputSchema: {
        type: 'object',
        properties: { region: { ...string, 'x-mcp-header': 'Region' }, query: string },
      },
      call: () => said('ok'),
    },
    json_schema_2020_12_tool: { inputSchema: schema2020, call: () => said('ok') },
    echo: {
      properties: { message: string },
      annotations: { readOnlyHint: true },
      outputSchema: { type: 'object', properties: { message: string }, required: ['message'] },
      call: (_context, { message }) => ({ ...said(`Echo: ${message}`), structuredContent: { message } }),
    },
  };
}

function capabilitiesOf({ mcpReq: { envelope } }: ServerContext): {
  elicitation?: object;
  sampling?: object;
} {
  const declared = (envelope as Readonly<Record<string, unknown>> | undefined)?.[
    'io.modelcontextprotocol/clientCapabilities'
  ];
  return (declared ?? {}) as object;
}

const message = (given: object) => ({ role: 'user', content: given });
const prompts: Readonly<Record<string, { readonly arguments?: readonly object[]; readonly get: Call }>> = {
  test_simple_prompt: { get: () => ({ messages: [message(text('This is a simple prompt for testing.'))] }) },
  test_prompt_with_arguments: {
    arguments: [
      { name: 'arg1', required: true },
      { name: 'arg2', required: true },
    ],
    get: (_context, { arg1, arg2 }) => ({
      messages: [message(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
    }),
  },
  test_prompt_with_embedded_resource: {
    arguments: [{ name: 'resourceUri', required: true }],
    get: (_context, { resourceUri: uri }) => ({
      messages: [
        message({
          type: 'resource',
          resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
        }),
        message(text('Please process the embedded resource above.')),
      ],
    }),
  },
  test_prompt_with_image: {
    get: () => ({
      messages: [
        message({ type: 'image', data: png, mimeType: 'image/png' }),
        message(text('Please analyze the image above.')),
      ],
    }),
  },
  test_input_required_result_prompt: {
    get: needing(
      { user_context: ask('What context should the prompt use?', { context: string }) },
      ({ mcpReq }) => ({
        messages: [message(text(JSON.stringify(mcpReq.inputResponses)))],
      }),
    ),
  },
};

function readResource(uri: string): object {
  const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? [];
  const data = id && JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
  if (uri === 'test://static-text')
    return {
      contents: [{ uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
    };
  if (uri === 'test://static-binary') return { contents: [{ uri, mimeType: 'image/png', blob: png }] };
  if (data) return { contents: [{ uri, mimeType: 'application/json', text: data }] };
  throw new ProtocolError(-32602, 'Resource not found', { uri });
}

function makeServer(notify?: ServerNotifier): McpServer {
  const tools = toolsOf(notify);
  const schemaOf = ({ properties = {}, inputSchema }: FixtureTool) =>
    inputSchema ?? { type: 'object', properties, required: Object.keys(properties) };
  /** Over HTTP, the SDK checks `Mcp-Param-*` headers against this schema. */
  class Everything extends McpServer {
    override toolInputSchemaJson(name: string) {
      const tool = tools[name];
      return tool && { ...schemaOf(tool) };
    }
  }
  const mcp = new Everything(
    { name: 'everything', version: '1' },
    {
      instructions: 'Use `echo` to hear yourself.',
      requestState: { verify: states.verify },
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        completions: {},
        logging: {},
      },
    },
  );
  const handle = (
    method: string,
    work: (params: Readonly<Record<string, unknown>>, context: ServerContext) => unknown,
  ) =>
    mcp.server.setRequestHandler(
      method as 'tools/list',
      (async ({ params = {} }: { params?: Readonly<Record<string, unknown>> }, context: ServerContext) =>
        (await work(params, context)) as Result) as never,
    );
  const pick = <Entry>(entries: Readonly<Record<string, Entry>>, name: unknown): Entry => {
    const found = entries[String(name)];
    if (found === undefined) throw new ProtocolError(-32602, `Unknown name: ${name}`);
    return found;
  };
  handle('tools/list', () => ({
    tools: Object.entries(tools).map(([name, tool]) => {
      const { properties: _properties, call: _call, ...more } = tool;
      return { name, description: `The tool ${name}.`, ...more, inputSchema: schemaOf(tool) };
    }),
  }));
  handle('tools/call', async ({ name, arguments: args = {} }, context) =>
    pick(tools, name).call(context, args as Readonly<Record<string, unknown>>),
  );
  handle('prompts/list', () => ({
    prompts: Object.entries(prompts).map(([name, { arguments: args = [] }]) => ({
      name,
      description: `The prompt ${name}.`,
      arguments: args,
    })),
  }));
  handle('prompts/get', async ({ name, arguments: args = {} }, context) =>
    pick(prompts, name).get(context, args as Readonly<Record<string, unknown>>),
  );
  handle('resources/list', () => ({
    resources: ['static-text', 'static-binary', 'watched-resource'].map((name) => ({
      uri: `test://${name}`,
      name,
      description: `The resource ${name}.`,
    })),
  }));
  handle('resources/templates/list', () => ({
    resourceTemplates: [
      { uriTemplate: 'test://template/{id}/data', name: 'template', description: 'Any ID.' },
    ],
  }));
  handle('resources/read', ({ uri }) => readResource(String(uri)));
  handle('resources/subscribe', () => ({}));
  handle('resources/unsubscribe', () => ({}));
  handle('completion/complete', () => ({
    completion: { values: ['paris', 'park'], total: 2, hasMore: false },
  }));
  return mcp;
}

/** Clients of 2025 have a session each; those of 2026 have none. */
function httpHandler(): (request: Request) => Promise<Response> {
  const modern = createMcpHandler(() => makeServer(modern.notify), { legacy: 'reject' });
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  return async (request) => {
    const refused = hostHeaderValidationResponse(request, localhostAllowedHostnames());
    if (refused !== undefined) return refused;
    const id = request.headers.get('mcp-session-id');
    const open = id === null ? undefined : sessions.get(id);
    if (open !== undefined) return await open.handleRequest(request);
    if (id !== null) return Response.json({ error: 'there is no such session' }, { status: 404 });
    if (!(await isLegacyRequest(request.clone()))) return await modern.fetch(request);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => void sessions.set(session, transport),
      onsessionclosed: (session) => void sessions.delete(session),
    });
    await makeServer().connect(transport);
    return await transport.handleRequest(request);
  };
}

if (process.argv.includes('--stdio')) serveStdio(() => makeServer());
else {
  const server = createServer(getRequestListener(httpHandler()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp\n`);
}
