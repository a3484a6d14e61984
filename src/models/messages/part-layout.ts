/** An old part and the parts that take its place. */
export type Replacement<Part> = readonly [old: Part, parts: readonly Part[]];

/** The old parts of one kind, and what becomes of them: the same parts when nothing has changed. */
export interface ChangedParts<Part> {
  readonly old: readonly Part[];
  readonly parts: readonly Part[];
}

/** The parts in the order of the old ones; reasoning and body that were not there come first, added calls last. */
export function layOutParts<Part extends { readonly type: string }>(
  old: readonly Part[],
  {
    body,
    reasoning,
    kept,
    added,
  }: {
    readonly body: ChangedParts<Part>;
    readonly reasoning: ChangedParts<Part>;
    readonly kept: readonly Replacement<Part>[];
    readonly added: readonly Part[];
  },
): Part[] {
  const replacements = new Map([...replaceInPlace(body), ...replaceInPlace(reasoning), ...kept]);
  const arranged = old.flatMap((part) => replacements.get(part) ?? []);
  const addedReasoning = reasoning.old.length === 0 ? reasoning.parts : [];
  const addedBody = body.old.length === 0 ? body.parts : [];
  return [...addedReasoning, ...insertBehindReasoning(arranged, addedBody), ...added];
}

/** Maps unchanged parts to themselves; changed ones all take the place of the first old part. */
function replaceInPlace<Part>({ old, parts }: ChangedParts<Part>): Replacement<Part>[] {
  const isKept = old.length === parts.length && old.every((part, index) => part === parts[index]);
  return old.map((part, index) => [part, isKept ? [part] : index === 0 ? parts : []]);
}

/** The parts with the added ones inserted behind the leading reasoning. */
function insertBehindReasoning<Part extends { readonly type: string }>(
  parts: readonly Part[],
  added: readonly Part[],
): Part[] {
  const since = parts.findIndex(({ type }) => type !== 'reasoning' && type !== 'reasoning-file');
  const at = since === -1 ? parts.length : since;
  return [...parts.slice(0, at), ...added, ...parts.slice(at)];
}

export interface PartMatcher<Entry, Part> {
  /** Whether the entry describes this part, changed or not. */
  matches(part: Part, entry: Entry): boolean;
  /** The part with the entry's changes; the same object when nothing has changed. */
  change(part: Part, entry: Entry): Part;
  /** A part that was not there before; may throw. */
  add(entry: Entry): Part;
}

/**
 * Matches entries of a replaced message with old parts, each used once: the kept parts and the added ones.
 */
export function matchParts<Entry, Part>(
  entries: readonly Entry[],
  old: readonly Part[],
  { matches, change, add }: PartMatcher<Entry, Part>,
): { readonly kept: readonly Replacement<Part>[]; readonly added: readonly Part[] } {
  const kept = new Map<Part, readonly Part[]>();
  const added: Part[] = [];
  for (const entry of entries) {
    const part = old.find((candidate) => !kept.has(candidate) && matches(candidate, entry));
    if (part === undefined) added.push(add(entry));
    else kept.set(part, [change(part, entry)]);
  }
  return { kept: [...kept], added };
}
