import type { Message, Reply } from '../../contract/exchange.ts';
import { RuntimeError } from '../../errors.ts';
import { isObject } from '../../json/json.ts';
import { excerpt, nonNull, toBody } from '../body.ts';
import type { Note } from '../dialect.ts';
import type { HandshakeResult, HookEntry } from '../foreign-dialect.ts';
import type { PicoclawSettings } from './config/settings.ts';
import { messageOf } from './decode.ts';
import { toCall } from './encode.ts';

/** The `hook.hello` message: the name of the hook, the protocol version and its modes. */
export function handshakeMessage({ name, settings }: HookEntry<PicoclawSettings>): Message {
  return toCall('hook.hello', { name, version: 1, modes: modesOf(settings) }, settings.helloTimeoutMs);
}

function modesOf({ observe, intercept }: PicoclawSettings): string[] {
  const named = (...methods: PicoclawSettings['intercept'][number][]) =>
    methods.some((method) => intercept.includes(method));
  return [
    ...(observe.length > 0 ? ['observe'] : []),
    ...(named('before_llm', 'after_llm') ? ['llm'] : []),
    ...(named('before_tool', 'after_tool') ? ['tool'] : []),
    ...(named('approve_tool') ? ['approve'] : []),
  ];
}

/** Reads the reply to `hook.hello`, or the fault in its place. An empty result is accepted. */
export function readHandshake(
  entry: HookEntry<PicoclawSettings>,
  reply: Reply | RuntimeError,
): HandshakeResult {
  if (reply instanceof RuntimeError) return readHandshakeFault(entry, reply);
  if (reply.via === 'process') return reject(entry, 'is no server');
  if (reply.error !== undefined) return reject(entry, `answered with the error ${messageOf(reply.error)}`);
  const result = nonNull(reply.result);
  if (result === undefined) return { accepted: true, notes: [] };
  if (!isObject(result.value)) return reject(entry, `answered ${excerpt(result.text)}`);
  const body = toBody(result);
  const ok = body.get('ok');
  if (ok === undefined || ok.value === true) return { accepted: true, notes: noteNames(body) };
  if (!entry.settings.isLenient) return reject(entry, `answered \`ok: ${excerpt(ok.text)}\``);
  const message = `it answered the hello with \`ok: ${excerpt(ok.text)}\`, which \`lenient: true\` accepts`;
  return { accepted: true, notes: [...noteNames(body), { level: 'warn', message }] };
}

function readHandshakeFault(entry: HookEntry<PicoclawSettings>, error: RuntimeError): HandshakeResult {
  const { code, message, hint, details } = error;
  if (details['problem'] === 'no_result') return { accepted: true, notes: [] };
  if (details['problem'] === 'error_type') return reject(entry, 'answered with an error that is no object');
  const stage = code === 'PROCESS_START' ? 'start' : 'hello';
  const staged = new RuntimeError(code, message, {
    hint: code === 'PROCESS_TIMEOUT' ? timeoutHint : hint,
    details: { ...details, stage },
    cause: error,
  });
  return { accepted: false, error: staged };
}

const timeoutHint = 'Raise picoclaw.hello_timeout_ms, or find out what the process waits for.';

function reject({ name }: HookEntry<PicoclawSettings>, what: string): HandshakeResult {
  const hint = 'Answer `hook.hello` with {"ok": true}.';
  const error = new RuntimeError('REPLY_MALFORMED', `"${name}" refused the hello: it ${what}`, {
    hint,
    details: { stage: 'hello' },
  });
  return { accepted: false, error };
}

function noteNames(body: ReturnType<typeof toBody>): Note[] {
  const names = ['name', 'version'].flatMap((key) => {
    const value = nonNull(body.get(key));
    return value === undefined ? [] : [`${key} ${excerpt(value.text)}`];
  });
  return names.length === 0 ? [] : [{ level: 'debug', message: `it says of itself: ${names.join(', ')}` }];
}
