/** What stands in the place of an old part. */
export type Place<Part> = readonly [old: Part, parts: readonly Part[]];

/** Parts that are the old ones stay each in its place; others all take the place of the first. */
export function place<Part>(old: readonly Part[], parts: readonly Part[]): Place<Part>[] {
  const isKept = old.length === parts.length && old.every((part, index) => part === parts[index]);
  return old.map((part, index) => [part, isKept ? [part] : index === 0 ? parts : []]);
}

/** The parts with those that had no place before, behind the reasoning. */
export function insertBehindReasoning<Part extends { readonly type: string }>(
  parts: readonly Part[],
  added: readonly Part[],
): Part[] {
  const since = parts.findIndex(({ type }) => type !== 'reasoning' && type !== 'reasoning-file');
  const at = since === -1 ? parts.length : since;
  return [...parts.slice(0, at), ...added, ...parts.slice(at)];
}

export interface Matching<Entry, Part> {
  /** Whether the entry tells of this part, changed or not. */
  isOf(part: Part, entry: Entry): boolean;
  /** The part as the entry tells of it; the same one when nothing has changed. */
  change(part: Part, entry: Entry): Part;
  /** A part that was not there before; may throw. */
  add(entry: Entry): Part;
}

/** What entries of a replaced message leave of the old parts, each taken once, and what they add. */
export function matchParts<Entry, Part>(
  entries: readonly Entry[],
  old: readonly Part[],
  { isOf, change, add }: Matching<Entry, Part>,
): { readonly kept: readonly Place<Part>[]; readonly added: readonly Part[] } {
  const kept = new Map<Part, readonly Part[]>();
  const added: Part[] = [];
  for (const entry of entries) {
    const part = old.find((candidate) => !kept.has(candidate) && isOf(candidate, entry));
    if (part === undefined) added.push(add(entry));
    else kept.set(part, [change(part, entry)]);
  }
  return { kept: [...kept], added };
}
