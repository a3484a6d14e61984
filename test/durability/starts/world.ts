import type { Claim, Store } from '../../../src/store/store.ts';
import { isEnded } from '../../../src/store/store-rules.ts';

export interface Start {
  readonly at: number;
  readonly owner: string;
  readonly what: 'tool' | 'eval' | 'filter';
  /** The idempotency key of a tool call. */
  readonly key?: string | undefined;
  readonly mayRepeat?: boolean | undefined;
}

/**
 * The true state of one run, from the answers of its store and this process's clock: its holder, its end and failed
 * writes. Judges each start at once.
 */
export class World {
  readonly wrong: string[] = [];
  readonly starts: Start[] = [];
  refused = 0;
  takeovers = 0;
  #holder: string | undefined;
  #endedAt: number | undefined;
  /** By owner: when the last unused admission was requested. The end of the claim clears it. */
  readonly #admitted = new Map<string, number>();
  readonly #begunAt = new Map<string, number>();
  readonly #failed = new Set<string>();
  readonly #effects = new Map<string, number>();
  readonly #allowances = new Map<string, number>();

  /** The owner's store with all answers about the run observed. */
  watch(owner: string, store: Store, pause: () => Promise<void>): Store {
    const heard =
      <Given extends unknown[], Result>(work: (...given: Given) => Promise<Result>) =>
      async (...given: Given): Promise<Result> => {
        await pause();
        try {
          return await work(...given);
        } catch (error) {
          if (codeOf(error) === 'STORE_FAILED') this.#failed.add(owner);
          throw error;
        } finally {
          await pause();
        }
      };
    return {
      ...store,
      addPending: heard(store.addPending),
      endStep: heard(store.endStep),
      beginStep: this.#admitting(owner, heard(store.beginStep)),
      // Another process may cancel the run without its executor's knowledge.
      setRunStatus: async (id, change) => {
        await pause();
        const stands = await store.setRunStatus(id, change);
        if (stands && isEnded(change.status)) this.#endedAt ??= performance.now();
        await pause();
        return stands;
      },
      claimRun: async (id) => {
        await pause();
        const claim = await store.claimRun(id);
        if (claim === undefined) return undefined;
        if (this.#holder !== undefined && this.#holder !== owner) this.takeovers += 1;
        this.#holder = owner;
        this.#failed.delete(owner);
        this.#admitted.delete(owner);
        const release = async () => {
          await claim.release();
          if (this.#holder === owner) this.#holder = undefined;
        };
        return { ...this.#claim(owner, claim, heard), release };
      },
    };
  }

  #claim(
    owner: string,
    claim: Claim,
    heard: (work: () => Promise<void>) => () => Promise<void>,
  ): Omit<Claim, 'release'> {
    return { isLive: claim.isLive, confirm: this.#admitting(owner, heard(claim.confirm)) };
  }

  #admitting<Given extends unknown[], Result>(owner: string, ask: (...given: Given) => Promise<Result>) {
    return async (...given: Given): Promise<Result> => {
      const askedAt = performance.now();
      try {
        const granted = await ask(...given);
        if (this.#endedAt !== undefined && this.#endedAt < askedAt)
          this.#note(owner, 'was admitted to a run that had ended');
        this.#admitted.set(owner, askedAt);
        return granted;
      } catch (error) {
        this.refused += 1;
        throw error;
      }
    };
  }

  begin(start: Omit<Start, 'at'>): void {
    const { owner, what, key, mayRepeat } = start;
    this.starts.push({ ...start, at: performance.now() });
    if (this.#holder !== owner)
      this.#note(owner, `starts a ${what} of a run that ${this.#holder ?? 'nobody'} holds`);
    if (this.#failed.has(owner)) this.#note(owner, `starts a ${what} although its store has failed`);
    // An owner has one slot, whose holder has the admission.
    const admittedAt = this.#admitted.get(owner);
    if (admittedAt === undefined) this.#note(owner, `starts a ${what} without an admission of its own`);
    else if (admittedAt < (this.#begunAt.get(owner) ?? 0))
      this.#note(owner, `starts a ${what} that was admitted before it had its slot`);
    this.#admitted.delete(owner);
    this.#begunAt.set(owner, performance.now());
    if (key === undefined) return;
    const effects = (this.#effects.get(key) ?? 0) + 1;
    this.#effects.set(key, effects);
    if (mayRepeat !== true && effects > 1 + (this.#allowances.get(key) ?? 0))
      this.#note(owner, `gives ${key} its effect ${effects} times`);
  }

  /** Records a person's permission to repeat the call. */
  allowAgain(key: string): void {
    this.#allowances.set(key, (this.#allowances.get(key) ?? 0) + 1);
  }

  #note(owner: string, what: string): void {
    this.wrong.push(`${owner} ${what}`);
  }
}

export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
