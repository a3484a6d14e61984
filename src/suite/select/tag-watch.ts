import { suggest } from '../../yaml/suggest.ts';
import type { RowFault } from '../run/accumulator.ts';

/** Sees which tags the cases of a run have, so that a misspelt one can be told. */
export interface TagWatch {
  see(tags: readonly string[], isTaken: boolean): void;
  /** The last case has been seen. */
  end(): void;
  /** That there were cases, and none had any of these tags. */
  findFault(wanted: readonly string[]): RowFault | undefined;
}

/** Watches the cases of one run. */
export function watchTags(): TagWatch {
  const known = new Set<string>();
  const seen = { cases: 0, isDone: false, hasTaken: false };
  return {
    see(tags, isTaken) {
      seen.cases += 1;
      if (isTaken) seen.hasTaken = true;
      else for (const tag of tags) if (known.size < most) known.add(tag);
    },
    end() {
      seen.isDone = true;
    },
    findFault(wanted) {
      if (!seen.isDone || seen.hasTaken || seen.cases === 0) return undefined;
      const cases = seen.cases === 1 ? '1 case' : `${seen.cases} cases`;
      const message = `none of ${cases} has the tag ${wanted.map((tag) => `"${tag}"`).join(' or ')}`;
      return { message, ...hintOfTags(wanted[0] ?? '', known) };
    },
  };
}

/** The nearest of the tags that there are, or the first few of them. */
export function hintOfTags(tag: string, known: ReadonlySet<string>): { readonly hint: string } {
  if (known.size === 0) return { hint: 'No case has a tag.' };
  const named = [...known].slice(0, shown).join(', ');
  const { hint = `known tags: ${named}${known.size > shown ? ', …' : ''}` } = suggest(tag, [...known]);
  return { hint };
}

/** Tags that are kept, and of these, as many as a person reads. */
const most = 10_000;
const shown = 20;
