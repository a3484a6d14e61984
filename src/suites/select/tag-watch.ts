import { formatCount } from '../../base/text/phrases.ts';
import { suggest } from '../../base/text/suggest.ts';
import type { RowFault } from '../dataset/row.ts';

/** Collects the tags of a run's cases, to report a selected tag that no case has. */
export interface TagWatch {
  see(tags: readonly string[], isTaken: boolean): void;
  end(): void;
  /** Returns the fault that no case had any of these tags. Undefined before `end` or if one had. */
  findFault(wanted: readonly string[]): RowFault | undefined;
}

export function watchTags(): TagWatch {
  const known = new Set<string>();
  const seen = { cases: 0, isDone: false, hasTaken: false };
  return {
    see(tags, isTaken) {
      seen.cases += 1;
      if (isTaken) seen.hasTaken = true;
      else for (const tag of tags) if (known.size < maxTags) known.add(tag);
    },
    end() {
      seen.isDone = true;
    },
    findFault(wanted) {
      if (!seen.isDone || seen.hasTaken || seen.cases === 0) return undefined;
      const cases = formatCount(seen.cases, 'case');
      const message = `none of ${cases} has the tag ${wanted.map((tag) => `"${tag}"`).join(' or ')}`;
      return { message, ...hintOfTags(wanted[0] ?? '', known) };
    },
  };
}

export function hintOfTags(tag: string, known: ReadonlySet<string>): { readonly hint: string } {
  if (known.size === 0) return { hint: 'No case has a tag.' };
  const named = [...known].slice(0, maxListed).join(', ');
  const { hint = `known tags: ${named}${known.size > maxListed ? ', …' : ''}` } = suggest(tag, [...known]);
  return { hint };
}

const maxTags = 10_000;
const maxListed = 20;
