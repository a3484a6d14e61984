// Write tools, filters, evaluators and observers for Signalbox: one script runs one-shot and as a server.
//
//     import { tool } from './signalbox.mjs'; // or from 'signalbox/author', which has the types
//
//     const greet = tool(({ args }) => `Hello, ${args.name}!`);
//     await greet.run(import.meta);
//
// The function gets the request as the protocol has it. From `run` on, prints go to stderr. A filter that returns
// nothing denies, an evaluator that returns nothing fails, and so does every exception. `await greet.handle(request)` is
// the reply without a process, for tests. Integers beyond 2 ** 53 are BigInt, so that they keep their digits.
//
// signalbox helper 0.1.0 (Node 22.18 and later). Update this copy with `npx signalbox init --helper --lang node`.
// It imports nothing, because even modules of Node take a millisecond to load.

/** Fails a call with your own message. Every other exception is a crash: its type and message, and exit code 1. */
export class Fail extends Error {}

/** Of a tool: a person decides. The tool is called again with `request.approval`. */
export const pending = (message, reason = '') => reply({ pending: { reason, message } });

/** Of a filter: the same as true. */
export const allow = (reason, metadata) => reply({ allow: true, reason, metadata });

/** Of a filter: the call fails. With a `replacement`, the caller gets this text in place of an answer. */
export const deny = (reason, { metadata, replacement } = {}) =>
  reply(
    replacement === undefined
      ? { allow: false, reason, metadata }
      : { allow: false, enforced: true, reason, metadata: { ...metadata, replacement } },
  );

/** Of a filter before a tool runs: a person decides. */
export const ask = (reason, metadata) => reply({ allow: false, ask: true, reason, metadata });

/** Of a filter: the call goes on with these members: messages, system_prompt, message, args or content. */
export const replace = (members, { reason, metadata } = {}) =>
  reply({ allow: true, replace: members, reason, metadata });

/** Of an evaluator: a number from 0 to 1, with a text and an object that explain it. */
export const score = (value, detail, data) => reply({ score: toNumber(value), detail, data });

/** Of an evaluator: there is nothing to score. */
export const abstain = (reason) => reply({ abstain: reason });

const toNumber = (value) => (typeof value === 'boolean' ? Number(value) : value);

const replies = new WeakSet();

function reply(members) {
  replies.add(members);
  return members;
}

/** The function gets {args, approval?, idempotency_key?} and returns the result. */
export const tool = (work) =>
  program(work, {
    name: 'tool',
    check: ({ args }) => isObject(args) || 'args',
    toReply: (value) => (replies.has(value) ? value : { result: value ?? null }),
  });

/** The function gets {hook, phase, request, response?} and returns true, false or a reply. */
export const filter = (work) =>
  program(work, {
    name: 'filter',
    check: ({ phase, request, response }) =>
      (!phases.includes(phase) && 'phase') ||
      (!isObject(request) && 'request') ||
      phase.startsWith('before_') ||
      isObject(response) ||
      'response',
    toReply: (value) => {
      if (value === undefined || value === null) return deny('the filter returned nothing');
      if (typeof value === 'boolean') return { allow: value };
      if (isObject(value)) return value;
      throw new TypeError(
        `a filter returns true, false or a reply, not ${Array.isArray(value) ? 'an array' : `a ${typeof value}`}`,
      );
    },
  });

const phases = ['before_call', 'after_call', 'before_execution', 'after_execution'];

/** The function gets {type, params, content, context} and returns a score or a reply. */
export const evaluator = (work) =>
  program(work, {
    name: 'evaluator',
    check: ({ params, content }) =>
      (!isObject(params) && 'params') || typeof content === 'string' || 'content',
    toReply: (value) => {
      if (typeof value === 'number' || typeof value === 'boolean') return { score: toNumber(value) };
      if (isObject(value)) return value;
      throw new TypeError(`an evaluator returns a number or a reply, not ${value ?? 'nothing'}`);
    },
  });

/** The function gets every event of its hook. What it returns has no effect. */
export const observer = (work) =>
  program(work, { name: 'observer', check: () => true, toReply: () => ({ ack: true }) });

function program(work, { name, check, toReply }) {
  const replyTo = async (request, call) => {
    // No function decides about an empty or broken request.
    const problem = isObject(request) ? check(request) : 'members';
    if (problem !== true) throw new Fail(`the request has no valid \`${problem}\``);
    return toReply(await work(request, call));
  };
  const replyToBatch = async ({ type, batch }, call) => {
    const each = batch.map((member) => answer(() => ({ type, ...member }), { call }));
    return { results: (await Promise.all(each)).map(({ text }) => parse(text)) };
  };
  const answer = async (
    read,
    { call = noCall, succeed = (same) => same, fail = (error) => ({ error }) } = {},
  ) => {
    try {
      const request = read();
      const isBatch = name === 'evaluator' && Array.isArray(request?.batch);
      const reply = await (isBatch ? replyToBatch : replyTo)(request, call);
      return { text: write(succeed(reply)), status: 0 };
    } catch (error) {
      const isMeant = error instanceof Fail;
      if (!isMeant) console.error(error);
      const text = write(fail(isMeant ? error.message || 'failed' : textOf(error)));
      return { text, status: isMeant && name !== 'filter' ? 0 : 1 };
    }
  };
  return Object.assign((request, call = noCall) => work(request, call), {
    /** The reply that the program would print. That of a failure is `{"error": "…"}`. */
    handle: async (request) => parse((await answer(() => request)).text),
    /** Answers the requests on stdin. With `import.meta`, it does nothing if the file was imported. */
    run: async (meta) => {
      if (meta === undefined || isMain(meta)) await run(name, answer);
    },
  });
}

/** Even an object that cannot become a text fails its own call only. */
function textOf(thrown) {
  try {
    return String(thrown);
  } catch {
    return `a thrown ${typeof thrown}`;
  }
}

const noCall = {
  get signal() {
    return new AbortController().signal;
  },
  progress: () => {},
};

function isMain({ main, filename }) {
  const [, started] = process.argv;
  if (main !== undefined || started === undefined) return main ?? false;
  const { realpathSync } = process.getBuiltinModule('node:fs');
  return realpathSync(started) === realpathSync(filename);
}

async function run(name, answer) {
  const { stdin, stdout } = process;
  const emit = stdout.write.bind(stdout);
  // From here on, what the script prints goes to stderr.
  stdout.write = (...text) => process.stderr.write(...text);
  const lines = [];
  let server;
  for await (const line of readLines(stdin)) {
    if (server === undefined && isMessage(line))
      server = createServer(name, answer, (text) => emit(`${text}\n`));
    if (server === undefined) lines.push(line);
    else server(line);
  }
  if (server !== undefined) return;
  const bytes = Buffer.concat(lines);
  if (bytes.toString().trim() === '') {
    console.error('signalbox: stdin ended without a request');
    process.exitCode = 1;
    return;
  }
  const { text, status } = await answer(() => read(bytes));
  emit(`${text}\n`);
  if (status !== 0) process.exitCode = status;
}

async function* readLines(stream) {
  let parts = [];
  for await (const chunk of stream) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      yield Buffer.concat([...parts, chunk.subarray(start, end + 1)]);
      parts = [];
      start = end + 1;
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
  }
  if (parts.length > 0) yield Buffer.concat(parts);
}

// ---- Messages of a server: JSON-RPC 2.0, one object per line ----

/** Whether the first line is one of a server. A request of one process has no member `jsonrpc`. */
function isMessage(line) {
  if (!line.includes('"jsonrpc"')) return false;
  try {
    return Object.hasOwn(read(line), 'jsonrpc');
  } catch {
    return line.toString().startsWith('{"jsonrpc"');
  }
}

function createServer(name, answer, emit) {
  const calls = new Map();
  const send = (message) => emit(write({ jsonrpc: '2.0', ...message }));
  return async (line) => {
    if (line.toString().trim() === '') return;
    const { problem, id = null, method, params } = readMessage(line);
    const hasId = id !== null;
    if (problem !== undefined) return send({ id: null, error: problem });
    if (method === 'cancel') return calls.get(params?.id)?.abort();
    if (method !== 'execute') {
      if (hasId) send({ id, error: { code: -32601, message: `there is no method ${method}` } });
      return;
    }
    if (!hasId && name !== 'observer') return;
    const controller = new AbortController();
    calls.set(id, controller);
    const call = {
      signal: controller.signal,
      progress: (progress, total, message) =>
        send({ method: 'progress', params: { id, progress, total, message } }),
    };
    const succeed = (reply) => ({
      jsonrpc: '2.0',
      id,
      result: name === 'tool' && 'result' in reply ? reply.result : reply,
    });
    const fail = (message) => ({ jsonrpc: '2.0', id, error: { code: 1, message } });
    const { text } = await answer(() => params, { call, succeed, fail });
    calls.delete(id);
    if (hasId) emit(text);
  };
}

function readMessage(line) {
  let message;
  try {
    message = read(line);
  } catch {
    return { problem: { code: -32700, message: 'the line is not JSON' } };
  }
  if (isObject(message) && typeof message.method === 'string' && !isObject(message.id)) return message;
  return { problem: { code: -32600, message: 'the line is not a request of JSON-RPC' } };
}

// ---- JSON that keeps the digits of integers ----

function read(bytes) {
  const text = bytes.toString();
  return parse(text.includes('\uFFFD') ? new TextDecoder('utf-8', { fatal: true }).decode(bytes) : text);
}

function parse(text) {
  return /\d{16}/.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
}

function keepDigits(_key, value, { source }) {
  return typeof value === 'number' && /^-?\d+$/.test(source) && !Number.isSafeInteger(value)
    ? BigInt(source)
    : value;
}

function write(value) {
  return JSON.stringify(value, (_key, member) => {
    if (typeof member === 'bigint') return JSON.rawJSON(String(member));
    if (typeof member === 'number' && !Number.isFinite(member)) throw new TypeError(`${member} is not JSON`);
    return member;
  });
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
