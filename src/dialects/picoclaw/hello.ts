import type { PicoclawSettings } from '../../config/foreign.ts';
import { RuntimeError } from '../../errors.ts';
import { isObject } from '../../json/json.ts';
import type { Message, Reply } from '../../transport/transport.ts';
import { excerpt, present, toBody } from '../body.ts';
import type { Note } from '../dialect.ts';
import type { Seat } from '../foreign.ts';
import { toCall } from './encode.ts';
import { messageOf } from './read/fault.ts';

/** The first message to a process: who it is, and what it will be asked. */
export function helloMessage({ name, settings }: Seat<PicoclawSettings>): Message {
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

/** Whether a process may be asked anything. A refusal says at which stage in `details.stage`. */
export type Greeting =
  | { readonly accepted: true; readonly notes: readonly Note[] }
  | { readonly accepted: false; readonly error: RuntimeError };

/** What a process answered to the hello, or the fault in the place of that. A hello is no verdict: silence passes. */
export function readHello(seat: Seat<PicoclawSettings>, reply: Reply | RuntimeError): Greeting {
  if (reply instanceof RuntimeError) return readFault(seat, reply);
  if (reply.via === 'process') return refuse(seat, 'is no server');
  if (reply.error !== undefined) return refuse(seat, `answered with the error ${messageOf(reply.error)}`);
  const result = present(reply.result);
  if (result === undefined) return { accepted: true, notes: [] };
  if (!isObject(result.value)) return refuse(seat, `answered ${excerpt(result.text)}`);
  const body = toBody(result);
  const ok = body.get('ok');
  if (ok === undefined || ok.value === true) return { accepted: true, notes: noteNames(body) };
  if (!seat.settings.isLenient) return refuse(seat, `answered \`ok: ${excerpt(ok.text)}\``);
  const message = `it answered the hello with \`ok: ${excerpt(ok.text)}\`, which \`lenient: true\` accepts`;
  return { accepted: true, notes: [...noteNames(body), { level: 'warn', message }] };
}

function readFault(seat: Seat<PicoclawSettings>, error: RuntimeError): Greeting {
  const { code, message, hint, details } = error;
  if (details['problem'] === 'no_result') return { accepted: true, notes: [] };
  if (details['problem'] === 'error_type') return refuse(seat, 'answered with an error that is no object');
  const stage = code === 'PROCESS_START' ? 'start' : 'hello';
  const staged = new RuntimeError(code, message, {
    hint: code === 'PROCESS_TIMEOUT' ? timeoutHint : hint,
    details: { ...details, stage },
    cause: error,
  });
  return { accepted: false, error: staged };
}

const timeoutHint = 'Raise picoclaw.hello_timeout_ms, or find out what the process waits for.';

function refuse({ name }: Seat<PicoclawSettings>, what: string): Greeting {
  const hint = 'Answer `hook.hello` with {"ok": true}.';
  const error = new RuntimeError('REPLY_MALFORMED', `"${name}" refused the hello: it ${what}`, {
    hint,
    details: { stage: 'hello' },
  });
  return { accepted: false, error };
}

function noteNames(body: ReturnType<typeof toBody>): Note[] {
  const said = ['name', 'version'].flatMap((key) => {
    const value = present(body.get(key));
    return value === undefined ? [] : [`${key} ${excerpt(value.text)}`];
  });
  return said.length === 0 ? [] : [{ level: 'debug', message: `it says of itself: ${said.join(', ')}` }];
}
