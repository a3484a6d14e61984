import type { Candidate } from '../../../src/suites/select/select.ts';
import { compileSelection, type Selection } from '../../../src/suites/select/select.ts';

type RowObject = Readonly<Record<string, unknown>>;

/** A case whose id and tags are members of its row. */
export function makeCase(number: number, value: RowObject = {}): Candidate {
  const { id = `c${number}`, tags = [] } = value;
  const row = { number, file: 'rows.jsonl', line: number, content: { usable: true, value } } as const;
  return { row, id: String(id), tags: Array.isArray(tags) ? tags.map(String) : [], value };
}

export function makeCases(count: number): Candidate[] {
  return Array.from({ length: count }, (_, index) => makeCase(index + 1));
}

export function makeProblem(number: number): Candidate {
  const problem = { message: `problem ${number}` };
  return { row: { number, file: 'rows.jsonl', line: number, content: { usable: false, problem } }, problem };
}

export interface Source {
  readonly candidates: AsyncIterable<Candidate>;
  pulled(): number;
  isClosed(): boolean;
}

export function sourceOf(candidates: Iterable<Candidate>): Source {
  let pulled = 0;
  let isClosed = false;
  const read = async function* (): AsyncGenerator<Candidate> {
    try {
      for (const candidate of candidates) {
        pulled += 1;
        yield candidate;
      }
    } finally {
      isClosed = true;
    }
  };
  return { candidates: read(), pulled: () => pulled, isClosed: () => isClosed };
}

export async function select(selection: Selection, candidates: Iterable<Candidate>): Promise<Candidate[]> {
  return Array.fromAsync(compileSelection(selection)(sourceOf(candidates).candidates));
}

/** Rows as their numbers, problems as their messages. */
export function namesOf(candidates: readonly Candidate[]): (number | string)[] {
  return candidates.map((each) => ('problem' in each ? each.problem.message : each.row.number));
}
