import type { Json } from '../../base/json/json.ts';

/** The outcomes of a run that are in memory, by name. */
export interface KeptOutcomes {
  find(name: string): Json | undefined;
  set(name: string, outcome: Json): void;
  /** Drops the one of this run of a loop, such as `loop[3]`, and all inside it. */
  forget(name: string): void;
}

/** Outcomes by the innermost run of a loop that they are of, so that one is forgotten without a look at the others. */
export function createKeptOutcomes(): KeptOutcomes {
  const parts = new Map<string, LoopPart>();
  const open = (name: string): LoopPart => {
    const known = parts.get(name);
    if (known !== undefined) return known;
    const made = { outcomes: new Map<string, Json>(), inner: new Set<string>() };
    parts.set(name, made);
    if (name !== '') open(partOf(name.slice(0, name.lastIndexOf('[')))).inner.add(name);
    return made;
  };
  const forget = (name: string): void => {
    for (const inner of parts.get(name)?.inner ?? []) forget(inner);
    parts.delete(name);
  };
  return {
    find: (name) => parts.get(partOf(name))?.outcomes.get(name),
    set: (name, outcome) => void open(partOf(name)).outcomes.set(name, outcome),
    forget: (name) => {
      forget(name);
      parts.get(partOf(name.slice(0, name.lastIndexOf('['))))?.inner.delete(name);
    },
  };
}

interface LoopPart {
  readonly outcomes: Map<string, Json>;
  /** The runs of loops directly inside it. */
  readonly inner: Set<string>;
}

/** The innermost run of a loop that a path stands in: `a[1]/b[2]` of `a[1]/b[2]/c/call`; '' outside of loops. */
function partOf(name: string): string {
  return name.slice(0, name.lastIndexOf(']') + 1);
}
