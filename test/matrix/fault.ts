import type { RuntimeEvent } from '../../src/index.ts';
import type { Meaning } from './meaning.ts';
import type { Target } from './targets.ts';

/** What a cell is set up with: the target, and an empty folder of its own, in which its config stands. */
export interface Scene {
  readonly target: Target;
  readonly folder: string;
}

/** The program of an entry. */
export interface Child {
  /** An absolute path, or a bare name for PATH. */
  readonly command: string;
  readonly args?: readonly string[];
  /** Variables as `NAME=value`. `REPLY`, `SERVES` and `GREETS` are there always: see fixtures/bin/misbehaves.sh. */
  readonly env?: readonly string[];
  /** The file of the command is the fault, and there is no other process: foreign hooks meet it when it has taken the place of a good one. */
  readonly isFile?: true;
  /** Other keys of the entry, such as `cwd`. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

/** What faults amount to: the rule by which the matrix expects an outcome, never what was once seen. */
export interface FaultClass {
  readonly name: string;
  /** What the target has to make of it. */
  means(target: Target): Meaning;
}

/**
 * One way to misbehave. To add faults, export a list of them from a file of its own and put it into `allFaults` of
 * faults/index.ts: `child` sets the scene (files into `folder`) and says what is started, `class` says what that amounts to, by
 * `processClass` or by a class with a `means` of its own, and `fits` narrows the targets. Everything else is generated.
 */
export interface Fault {
  /** What the child does, as the end of a sentence: `exits with code 3 before it reads`. Unique. */
  readonly id: string;
  /** The group under which the tally counts it. */
  readonly area: string;
  /** A list has one for each of the calls, in their order. */
  readonly class: FaultClass | readonly FaultClass[];
  child(scene: Scene): Child;
  /** Whether the target can have it. Default: every target. */
  fits?(target: Target): boolean;
  /** It runs into its limit, which is then short; else the limit is so long that no busy machine reaches it. */
  readonly isTimed?: boolean | ((target: Target) => boolean);
  /** It does not even greet, where its dialect has a greeting. */
  readonly isUngreeted?: boolean;
  /** The first call waits until an event of this type was told. */
  readonly awaits?: RuntimeEvent['type'];
  /** It costs so much that one target of each dialect, transport and launcher is enough. */
  readonly isHeavy?: boolean;
  /** Calls at once, where `class` is a list; else they follow each other. */
  readonly isTogether?: boolean;
  /** Between two calls the process ends, and is waited for. */
  readonly isEnded?: boolean;
  /** What a tool is called with, and a model sent. Default: a few bytes. */
  readonly text?: string;
}
