import type { ErrorCode } from '../../../base/errors.ts';
import type { Dropped } from '../../../contract/event.ts';
import { readBody } from '../../../dialects/body.ts';
import { type ConformKind, PLAIN, type Speech } from './subject.ts';
import type { Evidence, Exchange, Trial } from './trial.ts';

/** The exchange that breaks the rule, or a sentence about what happened. */
export type Breach = Exchange | string | undefined;

type Act = (trial: Trial) => Promise<Evidence>;

export interface Check {
  readonly name: string;
  /** What the contract says. */
  readonly rule: string;
  /** The section of docs/reference/protocols/promptkit.md. */
  readonly section: string | Readonly<Record<ConformKind, string>>;
  readonly next: string;
  readonly modes: readonly ('oneshot' | 'server')[];
  readonly kinds: readonly ConformKind[];
  /** Checks with the same act judge the same exchanges; the first one that fails ends them. */
  readonly act: Act;
  readonly breach: (evidence: Evidence) => Breach;
}

const LARGE_BYTES = 2 * 1024 * 1024;
const IN_FLIGHT = 50;

const everyKind = ['tool', 'filter', 'observer', 'eval'] as const;

/** Every phase, one after another. A server is asked at least twice, so that a second answer to the first one shows. */
export const plain: Act = async (trial) => {
  const { speeches, binding } = trial.subject;
  const asked = binding.mode === 'server' ? [...speeches, speeches[0]] : speeches;
  return await trial.observe(async () => {
    const exchanges: Exchange[] = [];
    for (const each of asked) exchanges.push(await trial.ask(each.encode(PLAIN), { speech: each }));
    return exchanges;
  });
};

const idle: Act = (trial) => trial.idle();

const asks =
  (texts: (encode: Speech['encode']) => readonly string[], terminator: '' | '\n' = '\n'): Act =>
  (trial) =>
    trial.observe(() => Promise.all(texts(trial.encode).map((body) => trial.ask(body, { terminator }))));

const noNewline = asks((encode) => [encode(PLAIN)], '');
const unknownMembers = asks((encode) => [withUnknown(encode(PLAIN))]);
const unicode = asks((encode) => [encode('Grüße, 東京, 👩‍👩‍👧, \u{1F600}, \u202Eright\u202C, \uFEFF')]);
const escapes = asks((encode) => [
  encode('NUL \0, control \u001B, emoji \u{1F600}').replaceAll(/[^ -~]/g, toEscape),
]);
const halves = asks((encode) => [encode('half a pair \uD800, its other half \uDFFF')]);
const separators = asks((encode) => [encode('lines\u2028and\u2029more\u0085lines')]);
const large = asks((encode) => [encode('2 MiB '.repeat(LARGE_BYTES / 6))]);
const atOnce = asks((encode) => [encode('one'), encode('two')]);
const inFlight = asks((encode) => Array.from({ length: IN_FLIGHT }, (_, index) => encode(`${index}`)));

/** Requests that lack what they are about. */
const broken: Act = (trial) =>
  trial.observe(async () => {
    const whole = trial.encode(PLAIN);
    const isServer = trial.subject.binding.mode === 'server';
    // A server gets its requests in JSON-RPC, so only their params can be broken.
    const half = isServer ? [] : ['', ' ', whole.slice(0, whole.length / 2)];
    const empty = ['{}', 'null', '[]', '"text"', withoutPayload(whole)];
    // A server must not answer with what it decides about a whole request that comes at the same time.
    const beside = isServer ? empty.map(() => whole) : [];
    const bodies = [...half, ...empty];
    const exchanges = await Promise.all([...bodies, ...beside].map((body) => trial.ask(body)));
    return exchanges.slice(0, bodies.length);
  });

const hasFault =
  (...codes: readonly ErrorCode[]) =>
  ({ exchanges }: Evidence): Breach =>
    exchanges.find(({ fault }) => fault !== undefined && codes.includes(fault.code));

const anyFault = ({ exchanges }: Evidence): Breach => exchanges.find(({ fault }) => fault !== undefined);

const dropped = ({ dropped }: Evidence, ...whats: readonly Dropped['what'][]): Breach => {
  const first = dropped.find(({ what }) => whats.includes(what));
  return first && `${first.what}: ${first.detail}`;
};

const isNoObject = ({ fault, faulty }: Exchange): boolean => {
  if (fault?.code !== 'REPLY_MALFORMED' || faulty?.via !== 'process') return false;
  try {
    readBody(faulty.stdout);
    return false;
  } catch {
    return true;
  }
};

const common = { modes: ['oneshot', 'server'], kinds: everyKind, section: '2-the-process' } as const;
const oneshot = { ...common, modes: ['oneshot'] } as const;
const server = { modes: ['server'], kinds: everyKind, section: '5-servers' } as const;

/** In the order of the trial. After a fault of a plain request, the others are not asked. */
export const checks: readonly Check[] = [
  {
    ...{ name: 'silence', ...server, act: idle },
    rule: 'Writes nothing to stdout before it is asked.',
    next: 'Print greetings and logs to stderr.',
    breach: (evidence) => dropped(evidence, 'noise', 'unknown reply', 'late reply', 'server request'),
  },
  {
    ...{ name: 'start', ...common, act: plain },
    rule: 'Starts without a shell.',
    next: 'Check that the file exists, is executable and has a #! line.',
    breach: hasFault('PROCESS_START', 'SANDBOX_FAILED', 'LIMIT_EXCEEDED'),
  },
  {
    ...{ name: 'reply-id', ...server, act: plain },
    rule: 'Answers each request once, with its id as a number.',
    next: 'Copy the id of the request into the one line that answers it.',
    breach: (evidence) =>
      dropped(evidence, 'unknown reply', 'late reply') ??
      evidence.exchanges.find(
        ({ fault, faulty }) => fault?.code === 'REPLY_MALFORMED' && faulty === undefined,
      ),
  },
  {
    ...{ name: 'stdout', ...common, act: plain, section: '3-reading-a-reply' },
    rule: 'Prints one JSON object in UTF-8, and nothing else.',
    next: 'Print logs to stderr.',
    breach: (evidence) =>
      dropped(evidence, 'noise', 'server request') ??
      hasFault('OUTPUT_LIMIT')(evidence) ??
      evidence.exchanges.find(isNoObject),
  },
  {
    ...{ name: 'in-time', ...common, act: plain },
    rule: 'Answers within its timeout, and asks no terminal.',
    next: 'Read stdin to its end, or a line of it as a server; flush the reply, and ask nobody.',
    breach: hasFault('PROCESS_TIMEOUT'),
  },
  {
    ...{ name: 'exit-code', ...oneshot, act: plain },
    rule: 'Exits with 0 after its reply.',
    next: 'Exit with 0 after a reply, also after a denial. If the script needs other arguments, give --request; for another phase of a hook, give --phase.',
    breach: hasFault('PROCESS_EXIT', 'PROCESS_SIGNAL'),
  },
  {
    ...{ name: 'stays', ...server, act: plain },
    rule: 'Answers requests until its stdin ends.',
    next: 'Read stdin in a loop. A script that serves one request is no server.',
    breach: (evidence) =>
      hasFault('SERVER_EXIT')(evidence) ??
      (evidence.restarts > 0 ? 'the server ended after its first answer' : undefined),
  },
  {
    ...{
      name: 'shape',
      ...common,
      kinds: ['tool', 'filter', 'eval'],
      act: plain,
      section: { tool: '4-tools', filter: '6-hooks', observer: '6-hooks', eval: '7-evals' },
    },
    rule: 'Replies with the members and types of its kind.',
    next: 'Correct the reply. If the script needs other arguments, give --request; for another phase of a hook, give --phase.',
    breach: anyFault,
  },
  {
    ...{ name: 'unknown-members', ...common, act: unknownMembers },
    rule: 'Ignores members of a request that it does not know.',
    next: 'Read the members that you need, and refuse no others.',
    breach: anyFault,
  },
  {
    ...{ name: 'no-newline', ...oneshot, act: noNewline },
    rule: 'Reads a request that ends without a newline.',
    next: 'Read stdin to its end, not to the end of a line.',
    breach: anyFault,
  },
  {
    ...{ name: 'unicode', ...common, act: unicode },
    rule: 'Reads UTF-8, whatever the locale is.',
    next: 'Read and write bytes as UTF-8, such as `json.load(sys.stdin.buffer)` in Python.',
    breach: anyFault,
  },
  {
    ...{ name: 'escapes', ...common, act: escapes },
    rule: 'Reads every character that JSON can escape, also NUL.',
    next: 'Read the request with a parser of JSON, and do not use a text as a name or an argument.',
    breach: anyFault,
  },
  {
    ...{ name: 'half-characters', ...server, act: halves },
    rule: 'Survives half of a surrogate pair in a text.',
    next: 'Escape what you print, as `json.dumps` in Python and `JSON.stringify` do, or refuse the request.',
    breach: hasFault('SERVER_EXIT', 'PROCESS_TIMEOUT'),
  },
  {
    ...{ name: 'line-ends', ...common, act: separators },
    rule: 'Ends a line at a newline (U+000A) only.',
    next: 'Split stdin at "\\n"; readline of Node.js and splitlines of Python split at more.',
    breach: anyFault,
  },
  {
    ...{ name: 'large', ...common, act: large },
    rule: 'Reads a request of 2 MiB.',
    next: 'Read stdin until it ends, and pass texts in files or pipes, not in arguments.',
    breach: anyFault,
  },
  {
    ...{ name: 'at-once', ...oneshot, act: atOnce },
    rule: 'Runs as two processes at once.',
    next: 'Give each process files of its own, or set `concurrency: 1` at its entry.',
    breach: anyFault,
  },
  {
    ...{ name: 'in-flight', ...server, act: inFlight },
    rule: 'Answers 50 requests that come at once.',
    next: 'Answer each request by its id, in any order, or set `concurrency: 1` at its entry.',
    breach: anyFault,
  },
  {
    ...{ name: 'broken', ...common, kinds: ['filter', 'eval'], act: broken },
    rule: 'Never allows or scores an empty or broken request.',
    next: 'Deny, or exit with 1, if the request cannot be read or lacks a member that decides.',
    breach: ({ exchanges }) => exchanges.find(({ permits }) => permits),
  },
  {
    ...{ name: 'survives', ...server, act: broken },
    rule: 'Answers a request with bad params, and lives on.',
    next: 'Answer {"error": {"code", "message"}} if a request cannot be handled, and go on.',
    breach: hasFault('SERVER_EXIT', 'PROCESS_TIMEOUT'),
  },
  {
    ...{ name: 'sigterm', ...server, act: (trial) => trial.terminate() },
    rule: 'Ends at SIGTERM within its grace period.',
    next: 'Exit at SIGTERM, once the answers in work are written.',
    breach: ({ hasEnded }) => (hasEnded ? undefined : 'it was still running after its grace period'),
  },
  {
    ...{ name: 'stdin-end', ...server, act: (trial) => trial.endStdin() },
    rule: 'Ends when its stdin ends.',
    next: 'Leave the loop when stdin ends.',
    breach: ({ hasEnded }) => (hasEnded ? undefined : 'it was still running after its grace period'),
  },
];

function toEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

const payloads = ['request', 'response', 'event', 'context'] as const;

/** Adds a member that no program knows, at the top and beside the members of the payload. */
function withUnknown(request: string): string {
  const unknown = '"x_unknown":{"list":[1,2],"text":"new"},';
  return payloads
    .reduce((text, name) => text.replace(new RegExp(`"${name}":\\{(?=")`), `$&${unknown}`), request)
    .replace('{', `{${unknown}`);
}

function withoutPayload(request: string): string {
  const members: Record<string, unknown> = JSON.parse(request);
  const kept = Object.entries(members).filter(
    ([name]) => name === 'hook' || name === 'phase' || name === 'type',
  );
  return JSON.stringify(Object.fromEntries(kept));
}
