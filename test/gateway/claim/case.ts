import fc from 'fast-check';
import { chat } from './chat.ts';
import { embeddings } from './embeddings.ts';
import { lie, liesOf } from './lies.ts';
import { countTokens, messages } from './messages.ts';
import { responses } from './responses.ts';
import type { Dice, Endpoint, Frame, Scene } from './scene.ts';

export type Action = 'allow' | 'deny' | 'redact' | 'enforce' | 'name' | 'die' | 'hang' | 'babble';

export const calmActions = ['allow', 'deny', 'redact', 'enforce', 'name'] as const;
export const faultyActions = ['die', 'hang', 'babble'] as const;

export interface Case {
  readonly endpoint: Endpoint;
  readonly side: 'asked' | 'answered' | 'error' | 'lie';
  readonly channel: string;
  readonly action: Action;
  readonly mode: 'hold' | 'windowed';
  readonly spelling: 'plain' | 'escaped' | 'inner escaped';
  readonly seed: number;
}

export function arbitraryCase(actions: readonly Action[]): fc.Arbitrary<Case> {
  return fc
    .record({
      endpoint: fc.constantFrom(
        chat,
        chat,
        responses,
        responses,
        messages,
        messages,
        embeddings,
        countTokens,
      ),
      side: fc.constantFrom(
        'asked' as const,
        'answered' as const,
        'answered' as const,
        'answered' as const,
        'error' as const,
        'lie' as const,
      ),
      at: fc.nat(),
      action: fc.constantFrom(...actions),
      mode: fc.constantFrom('hold' as const, 'windowed' as const),
      spelling: fc.constantFrom(
        'plain' as const,
        'plain' as const,
        'escaped' as const,
        'inner escaped' as const,
      ),
      seed: fc.nat(),
    })
    .map(({ at, ...rest }) => withChannel(rest, at));
}

function withChannel(one: Omit<Case, 'channel'>, at: number): Case {
  const isLie = one.side === 'lie' && one.endpoint.hasStreams;
  // Only these actions let text pass, and no filter sees the text of a lie.
  const isHeard = one.action === 'allow' || one.action === 'name';
  const lying = isLie && isHeard ? { action: 'deny' as const } : {};
  const side = one.side === 'lie' && !isLie ? 'error' : one.side;
  return { ...one, side, ...lying, channel: pick(channelsOf(one), at) };
}

function channelsOf({ endpoint, side }: Pick<Case, 'endpoint' | 'side'>): readonly string[] {
  if (side === 'lie' && endpoint.hasStreams) return liesOf(endpoint);
  if (side === 'error' || side === 'lie') return ['error message', 'error extra'];
  return side === 'asked' ? endpoint.asked : endpoint.answered;
}

function pick<T>(list: readonly T[], at: number): T {
  const found = list[at % list.length];
  if (found === undefined) throw new Error('nothing to pick from');
  return found;
}

export function titleOf({ endpoint, side, channel, action, mode, spelling, seed }: Case): string {
  return `${endpoint.name} ${side} ${channel}: ${action}, ${mode}, ${spelling}, seed ${seed}`;
}

export interface Wire {
  readonly scene: Scene;
  /** The text that must not pass, or that replaces `told`. */
  readonly mark: string;
  readonly status: number;
  readonly requestBody: (isStream: boolean) => string;
  readonly answerBody: string;
  readonly stream: string;
  readonly dice: Dice;
}

export function spellCase(one: Case): Wire {
  const dice = createDice(one.seed);
  const hex = dice(0x1000000).toString(16).padStart(6, '0');
  // Texts are cut between words.
  const digits = dice(2) === 0 ? hex : `${hex.slice(0, 3)} ${hex.slice(3)}`;
  const mark = one.action === 'name' ? `Zname${digits}` : `Z${one.action}q${digits}`;
  // The answer contains the pseudonym that the model received.
  const told = one.action === 'name' && one.side !== 'asked' ? `pn-${digits}` : mark;
  const side = (name: Case['side']) => (channel: string) => {
    const isChosen = one.side === name && one.channel === channel && one.action !== 'allow';
    return filler(dice) + (isChosen ? told : '') + filler(dice);
  };
  const has = (channel: string) =>
    channel === one.channel || (!displacing.has(channel) && !hides(one, channel) && dice(4) === 0);
  const making = { has: cached(has), dice, json: (value: unknown) => spellInner(value, one.spelling) };
  const asked = one.endpoint.scene({ ...making, slot: cached(side('asked')) });
  const answered = one.endpoint.scene({ ...making, slot: cached(side('answered')), has: cached(has) });
  const error = errorOf(one, cached(side('error')));
  const spell = (value: unknown) => spellJson(value, one.spelling);
  const plain = (value: unknown) => JSON.stringify(value);
  const { events } = answered;
  const frames = one.side === 'lie' ? lie(one.endpoint, one.channel, events, told) : events;
  const ofRequest = one.side === 'asked' ? spell : plain;
  const ofAnswer = one.side === 'asked' ? plain : spell;
  return {
    scene: { ...answered, request: asked.request },
    mark,
    status: error === undefined ? 200 : 400 + dice(2) * 100,
    requestBody: (isStream) =>
      ofRequest({ ...asked.request, ...(one.endpoint.hasStreams && isStream && { stream: true }) }),
    answerBody: ofAnswer(error ?? answered.answer),
    stream: frames.map((frame) => toSse(frame, ofAnswer)).join(''),
    dice,
  };
}

function errorOf({ side, endpoint }: Case, slot: (channel: string) => string): object | undefined {
  if (side !== 'error') return undefined;
  const message = `no: ${slot('error message')}`;
  const extra = slot('error extra');
  const isAnthropic = endpoint === messages || endpoint === countTokens;
  if (isAnthropic) return { type: 'error', error: { type: 'invalid_request_error', message }, note: extra };
  return { error: { message, type: 'invalid_request_error', param: null, code: null, note: extra } };
}

function toSse({ event, data, lines = '', isRaw }: Frame, spell: (value: unknown) => string): string {
  const name = event === undefined ? '' : `event: ${event}\n`;
  return `${lines}${name}data: ${data === '[DONE]' || isRaw === true ? data : spell(data)}\n\n`;
}

/** Channels that replace other channels. They exist only in a case that chooses them. */
const displacing = new Set(['refusal', 'stop sequence', 'system blocks', 'result blocks', 'input', 'inputs']);

/** A call has its own finish reason. */
function hides({ channel }: Case, other: string): boolean {
  return channel === 'stop sequence' && other.startsWith('call ');
}

/** No mark begins with one of these letters. */
const letters = [...'abcdefghijklmnop    \n"\\{}äß中文🙂'];

function filler(dice: Dice): string {
  const length = dice(16) === 0 ? 100 + dice(150) : dice(5) === 0 ? 0 : dice(60);
  return Array.from({ length }, () => letters[dice(letters.length)] ?? '').join('');
}

function cached<T>(make: (channel: string) => T): (channel: string) => T {
  const known = new Map<string, T>();
  return (channel) => {
    if (!known.has(channel)) known.set(channel, make(channel));
    const value = known.get(channel);
    if (value === undefined) throw new Error('it is known by now');
    return value;
  };
}

function spellJson(value: unknown, spelling: Case['spelling']): string {
  const text = JSON.stringify(value);
  return spelling === 'escaped' ? text.replaceAll(/Z|pn-/g, escapeFirst) : text;
}

function spellInner(value: unknown, spelling: Case['spelling']): string {
  const text = JSON.stringify(value);
  return spelling === 'inner escaped' ? text.replaceAll(/Z|pn-/g, escapeFirst) : text;
}

function escapeFirst(text: string): string {
  return `\\u${text.charCodeAt(0).toString(16).padStart(4, '0')}${text.slice(1)}`;
}

export function createDice(seed: number): Dice {
  let state = seed >>> 0;
  return (sides) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  };
}
