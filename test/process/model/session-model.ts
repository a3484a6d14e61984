export type Outcome = 'waits' | `= ${string}` | `! ${string}`;

export type Line =
  | { readonly says: 'result' | 'error' | 'both' | 'neither'; readonly id: number; readonly value: number }
  | { readonly says: 'noise' | 'anonymous' };

export function textOf(line: Line): string {
  if (!('id' in line))
    return line.says === 'noise' ? 'listening on port 80' : '{"jsonrpc":"2.0","result":{}}';
  const { says, id, value } = line;
  const result = `"result":{"n":${value}}`;
  const error = `"error":{"code":1,"message":"${value}"}`;
  const content = { result, error, both: `${result},${error}`, neither: '"x":1' }[says];
  return `{"jsonrpc":"2.0","id":${id},${content}}`;
}

/** The expected session: a table of requests by id, from 1. */
export class SessionModel {
  readonly outcomes = new Map<number, Outcome>();
  /** Requests that were cancelled and have no answer yet. */
  readonly #abandoned = new Set<number>();
  /** The number of lines without a recipient. */
  dropped = 0;
  goodReplies = 0;
  end: string | undefined;
  isStopping = false;

  ask(): number {
    const id = this.outcomes.size + 1;
    this.outcomes.set(id, 'waits');
    return id;
  }

  get waiting(): number[] {
    return [...this.outcomes].flatMap(([id, outcome]) => (outcome === 'waits' ? [id] : []));
  }

  giveUp(id: number, code: 'ABORTED' | 'PROCESS_TIMEOUT'): void {
    if (this.outcomes.get(id) !== 'waits') return;
    this.outcomes.set(id, `! ${code}`);
    this.#abandoned.add(id);
  }

  read(line: Line): void {
    if (!('id' in line)) this.#readWithoutId(line.says);
    else if (this.outcomes.get(line.id) !== 'waits') {
      this.#abandoned.delete(line.id);
      this.dropped += 1;
    } else if (line.says === 'neither') this.outcomes.set(line.id, '! REPLY_MALFORMED');
    else {
      // An error takes precedence over a result.
      const text = line.says === 'result' ? `{"n":${line.value}}` : `{"code":1,"message":"${line.value}"}`;
      this.outcomes.set(line.id, `= ${text}`);
      this.goodReplies += 1;
    }
  }

  /** A reply without an id belongs to the only pending request; with several pending, it is dropped. */
  #readWithoutId(says: 'noise' | 'anonymous'): void {
    const [only, ...more] = this.waiting;
    if (says === 'noise' || only === undefined || more.length > 0 || this.#abandoned.size > 0)
      this.dropped += 1;
    else this.outcomes.set(only, '! REPLY_MALFORMED');
  }

  die(): void {
    this.end = this.isStopping ? 'RUNTIME_CLOSED' : 'SERVER_EXIT';
    for (const id of this.waiting) this.outcomes.set(id, `! ${this.end}`);
  }
}
