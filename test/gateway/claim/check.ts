import { type Case, faultyActions, type Wire } from './case.ts';
import { at, type Frame, isObject, textAt } from './scene.ts';

export interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly isStream: boolean;
  readonly wantsStream: boolean;
  /** Undefined: the upstream was not called. */
  readonly upstream: string | undefined;
}

interface Seen {
  readonly kind: 'same' | 'changed' | 'stand-in' | 'error';
  readonly view: Readonly<Record<string, string>>;
}

export function findFaults(one: Case, wire: Wire, gots: readonly Got[]): string[] {
  if (gots.length === 0) return [];
  const faults = gots.flatMap((got) => leaksOf(one, wire, got));
  const seen = gots.flatMap((got) => {
    try {
      return [see(one, wire, got)];
    } catch (error) {
      faults.push(`${error}: ${got.status} ${got.text}`);
      return [];
    }
  });
  for (const each of one.side === 'lie' ? [] : seen) faults.push(...verdictFaults(one, wire, each));
  for (const got of gots) faults.push(...passFaults(one, wire, got));
  const [first, ...others] = seen;
  for (const other of others) {
    if (JSON.stringify(first) !== JSON.stringify(other) && !isLateChange(one, first, other)) {
      faults.push(`unstreamed and streamed differ: ${JSON.stringify(first)} ${JSON.stringify(other)}`);
    }
  }
  return faults;
}

/**
 * In windowed mode, a stand-in may be impossible after what was sent, and signed reasoning cannot be changed. Then an
 * error follows.
 */
function isLateChange({ endpoint, mode, channel }: Case, first: Seen | undefined, other: Seen): boolean {
  const isSigned = endpoint.name === 'messages' && channel === 'thinking';
  const isLate = first?.kind === 'stand-in' || (isSigned && first?.kind === 'changed');
  return mode === 'windowed' && isLate && other.kind === 'error';
}

/** The client may see a name; nobody may see any other mark. */
function leaksOf(one: Case, { mark }: Wire, { text, headers, upstream }: Got): string[] {
  const faults: string[] = [];
  const isTold = one.action === 'allow';
  const isClients = one.action === 'name';
  const answered = `${JSON.stringify(headers)}\n${text}`;
  if (!isTold && !isClients && hasMark(answered, mark)) faults.push(`${leak}client: ${answered}`);
  if (!isTold && one.side === 'asked' && upstream !== undefined && hasMark(upstream, mark))
    faults.push(`${leak}upstream: ${upstream}`);
  return faults;
}

/** A leak is never excused. */
export function isLeak(fault: string): boolean {
  return fault.startsWith(leak);
}

const leak = 'it reached the ';

function hasMark(text: string, mark: string): boolean {
  if (/Z|\\u005a/i.test(text) && /Z|\\u005a/.test(text)) return true;
  if (text.includes(mark.slice(1))) return true;
  return [0, 1, 2].some((offset) => {
    const encoded = Buffer.from('a'.repeat(offset) + mark).toString('base64');
    return text.includes(encoded.slice(offset === 0 ? 0 : 4, -4));
  });
}

function see(one: Case, wire: Wire, got: Got): Seen {
  const { endpoint } = one;
  if (got.status !== 200) {
    require(isErrorBody(JSON.parse(got.text)), 'an error has a type and a message');
    return { kind: got.text === wire.answerBody ? 'same' : 'error', view: {} };
  }
  const frames = got.isStream ? parseFrames(got.text) : [];
  const last = frames.at(-1);
  if (last !== undefined && isErrorFrame(last)) return { kind: 'error', view: {} };
  const answer: unknown = got.isStream ? endpoint.assemble(frames) : JSON.parse(got.text);
  const view = endpoint.view(answer);
  const isSame = got.text === (got.isStream ? wire.stream : wire.answerBody);
  const isStandIn = !isSame && Object.values(view).some((text) => text.endsWith('a stand-in'));
  return isStandIn ? { kind: 'stand-in', view: {} } : { kind: isSame ? 'same' : 'changed', view };
}

function parseFrames(text: string): Frame[] {
  const events = text.split('\n\n');
  require(events.pop() === '', 'the last event is whole');
  return events.flatMap((event) => {
    const fields = event.split('\n').filter((line) => !line.startsWith(':'));
    if (fields.length === 0) return [];
    const data = fields.flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : [])).join('\n');
    const name = fields.find((line) => line.startsWith('event: '))?.slice(7);
    const value: unknown = data === '[DONE]' ? data : JSON.parse(data);
    return [{ data: value, ...(name !== undefined && { event: name }) }];
  });
}

function isErrorFrame({ event, data }: Frame): boolean {
  return event === 'error' || (event === undefined && isObject(at(data, 'error')));
}

function isErrorBody(body: unknown): boolean {
  return textAt(body, 'error', 'message') !== '' && textAt(body, 'error', 'type') !== '';
}

function verdictFaults({ action, side, endpoint }: Case, { mark }: Wire, { kind, view }: Seen): string[] {
  const expected: Readonly<Record<Case['action'], readonly Seen['kind'][]>> = {
    allow: ['same'],
    deny: ['error'],
    // A text that cannot be changed exactly is denied.
    redact: side === 'asked' ? ['same', 'error'] : ['changed', 'error'],
    enforce: endpoint.hasStreams ? ['stand-in', 'error'] : ['error'],
    name: side === 'asked' ? ['same', 'error'] : ['changed', 'error'],
    die: ['error'],
    hang: ['error'],
    babble: ['error'],
  };
  const texts = Object.values(view).join('\n');
  const faults = expected[action].includes(kind)
    ? []
    : [`${kind} in place of ${expected[action].join(' or ')}`];
  if (kind === 'changed' && action === 'redact' && texts.includes(mark.slice(1)))
    faults.push('it is still there');
  if (kind === 'changed' && action === 'name' && texts.includes(`pn-${mark.slice(5)}`))
    faults.push('not restored');
  return faults;
}

/** Allowed texts pass byte for byte; a denied request is not sent. */
function passFaults({ action, side }: Case, wire: Wire, { wantsStream, upstream, status }: Got): string[] {
  const sent = wire.requestBody(wantsStream);
  const isChanged = side === 'asked' && action !== 'allow';
  // When a filter dies, concurrent calls are denied too.
  if (upstream === undefined && isFaulty(action)) return [];
  if (!isChanged) return upstream === sent ? [] : [`the upstream was sent ${upstream} in place of ${sent}`];
  const mayPass = action === 'redact' || action === 'name';
  if (!mayPass && upstream !== undefined) return [`the upstream was called: ${upstream}`];
  if (status === 200 && mayPass && upstream?.length === sent.length && upstream === sent)
    return ['the upstream was sent what the filter has changed'];
  return [];
}

function isFaulty(action: Case['action']): boolean {
  return faultyActions.some((faulty) => faulty === action);
}

function require(condition: boolean, what: string): void {
  if (!condition) throw new Error(`a client cannot read this: ${what}`);
}
