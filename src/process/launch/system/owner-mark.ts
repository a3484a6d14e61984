import {
  type Owner,
  ownerFromText,
  ownerPattern,
  ownerToText,
  thisOwner,
} from '../../../base/files/owner.ts';

/** Who started a process, or what it descends from, and whether its entry lets its background children live. */
export interface OwnerMark {
  readonly owner: Owner;
  readonly leftovers: Leftovers;
}

export type Leftovers = 'kill' | 'keep';

/** An environment, as variables by name. */
type Env = Readonly<Record<string, string>>;

/** The variable that every process has from us, and whatever it starts has from it. */
export const OWNER_VARIABLE = 'SIGNALBOX_OWNER';

/** The environment with the mark of this thread. */
export function withOwnerMark(env: Env, leftovers: Leftovers): Env {
  return { ...env, [OWNER_VARIABLE]: `${ownerToText(thisOwner())}.${leftovers}` };
}

/** The mark in the environment of a process, as /proc shows it; undefined where there is none. */
export function readOwnerMark(environ: Buffer): OwnerMark | undefined {
  // Most environments have none, and some are long.
  const place = environ.indexOf(`${OWNER_VARIABLE}=`);
  if (place === -1) return undefined;
  const [, owner, leftovers] = markPattern.exec(environ.toString('latin1')) ?? [];
  if (owner === undefined) return undefined;
  return { owner: ownerFromText(owner), leftovers: leftovers === 'keep' ? 'keep' : 'kill' };
}

const markPattern = new RegExp(String.raw`(?:^|\0)${OWNER_VARIABLE}=(${ownerPattern})\.(kill|keep)(?:\0|$)`);
