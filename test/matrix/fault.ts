import type { RuntimeEvent } from '../../src/index.ts';
import type { Meaning } from './meaning.ts';
import type { Target } from './targets.ts';

/** The target, and an empty folder for the cell's config. */
export interface Scene {
  readonly target: Target;
  readonly folder: string;
}

export interface Child {
  /** An absolute path, or a bare name for PATH. */
  readonly command: string;
  readonly args?: readonly string[];
  /** Variables as `NAME=value`. `REPLY`, `SERVES` and `GREETS` are always set: see fixtures/bin/misbehaves.sh. */
  readonly env?: readonly string[];
  /** The command's file is the fault, and no process starts. For foreign hooks it replaces a working file. */
  readonly isFile?: true;
  readonly settings?: Readonly<Record<string, unknown>>;
}

export interface FaultClass {
  readonly name: string;
  /** What the target must make of the fault, by documented rules and never by observation. */
  means(target: Target): Meaning;
}

/**
 * One way to misbehave. To add faults, export a list from a new file and add it to `allFaults` in faults/index.ts.
 * `child` writes files into `folder` and returns the program. `class` gives the expected meaning, by `processClass` or
 * by a `means` of its own. `fits` restricts the targets. Everything else is generated.
 */
export interface Fault {
  /** The child's behavior as the end of a sentence: `exits with code 3 before it reads`. Unique. */
  readonly id: string;
  readonly area: string;
  /** A list has one class per call, in order. */
  readonly class: FaultClass | readonly FaultClass[];
  child(scene: Scene): Child;
  fits?(target: Target): boolean;
  /** Reaches its limit, which is then short. Otherwise the limit is too long to be reached. */
  readonly isTimed?: boolean | ((target: Target) => boolean);
  /** Does not greet, in dialects with a greeting. */
  readonly isUngreeted?: boolean;
  /** The first call waits for an event of this type. */
  readonly awaits?: RuntimeEvent['type'];
  /** Too expensive for more than one target of each dialect, transport and launcher. */
  readonly isHeavy?: boolean;
  /** Makes the calls of a `class` list concurrently instead of in sequence. */
  readonly isTogether?: boolean;
  /** Waits for the end of the process between two calls. */
  readonly isEnded?: boolean;
  /** The text of the tool call or model request. Default: a few bytes. */
  readonly text?: string;
}
