import type { Payload } from './foreign-dialect.ts';

/** What a hook is to be tried at, and for how long it may be silent there. */
interface TrialLimits {
  readonly point: string;
  readonly timeoutMs: number;
  /** The limit of the first exchange with a server. */
  readonly greetingMs: number;
}

/**
 * How a process ended that did not fail by the rules of every system: `silence` is exit code 0 without a word, `text` the
 * same with a word that is no JSON.
 */
export type Utterance = 'silence' | 'text' | 'exit 2';

/** What hooks of a dialect are tried with when a program that fails takes the place of their own. */
export interface Trial<Settings = unknown> {
  /** The settings of the same hook, which hears of that point, whatever its matchers say. */
  settingsAt(settings: Settings, limits: TrialLimits): Settings;
  /** A payload that fits the point. */
  payloadAt(point: string): Payload;
  /** What a process prints that lets the point pass, in the words of the dialect; a server gives it as its result. */
  consentAt(point: string): string;
  /** The result of the first exchange with a server; absent where there is none. */
  readonly greeting?: string;
  /** What a plugin says of itself that registers for every point; absent where none is asked. */
  readonly description?: string;
  /** The causes with which a failure of a hook passes. Source: docs/dialects.md, "What fails open". */
  readonly failsOpenBy: readonly string[];
  /** The rules by which something passes at the point that is an answer of its system, and no failure. Source: likewise. */
  passesAt(point: string): Readonly<Partial<Record<Utterance, string>>>;
}
