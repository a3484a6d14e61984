import { type Material, mutate } from './mutate.ts';
import { newRandom } from './random.ts';
import type { Target } from './target.ts';
import { type Finding, minimize, tryInput } from './try-input.ts';

export interface FuzzOptions {
  /** How many inputs; the seeds are the first of them. */
  readonly inputs: number;
  readonly seed: number;
  /** Stops earlier when this many seconds are over. */
  readonly seconds?: number | undefined;
  /** Words of the code beside the target's own. */
  readonly literals?: ReadonlySet<string>;
  /** Inputs that an earlier run has kept. */
  readonly kept?: readonly string[];
  /** Whether the last input reached something new; without it only seeds are changed. */
  readonly isFresh?: () => boolean;
  /** Stops at so many findings; default: 20. */
  readonly most?: number;
  /** Told before each input. */
  readonly onInput?: (input: string) => void;
}

export interface FuzzOutcome {
  readonly inputs: number;
  /** One for each cause, as small as it was found. */
  readonly findings: readonly Finding[];
  /** The inputs that reached something new. */
  readonly corpus: readonly string[];
}

/** Tries seeds and changes of them on a target. The same options without coverage and time give the same inputs. */
export async function fuzz(target: Target, options: FuzzOptions): Promise<FuzzOutcome> {
  const {
    inputs,
    seed,
    seconds = Number.POSITIVE_INFINITY,
    isFresh = () => false,
    most = 20,
    onInput,
  } = options;
  const corpus = [...target.seeds];
  const pending = [...target.seeds, ...(options.kept ?? [])];
  const material: Material = {
    random: newRandom(seed),
    corpus,
    tokens: [...target.tokens, ...(options.literals ?? [])],
    maxLength: target.maxLength ?? 2_000,
  };
  const findings = new Map<string, Finding>();
  const end = performance.now() + seconds * 1_000;
  let tried = 0;
  for (; tried < inputs && findings.size < most; tried += 1) {
    if (tried % 64 === 0 && performance.now() > end) break;
    const isGiven = tried < pending.length;
    const input = (isGiven ? pending[tried] : undefined) ?? mutate(parentOf(material), material);
    onInput?.(input);
    const found = await tryInput(target, input);
    if (found !== undefined && !findings.has(found.cause)) {
      findings.set(found.cause, await minimize(target, found));
    }
    if (isFresh() && found === undefined && tried >= target.seeds.length) corpus.push(input);
  }
  return { inputs: tried, findings: [...findings.values()], corpus };
}

/** Half of the time one of the newest, which have reached what is hard to reach; of two the shorter, mostly. */
function parentOf({ random, corpus }: Material): string {
  const from = random.below(2) === 0 ? Math.max(0, corpus.length - 64) : 0;
  const one = corpus[from + random.below(corpus.length - from)] ?? '';
  const other = corpus[from + random.below(corpus.length - from)] ?? '';
  if (random.below(4) === 0) return one;
  return one.length <= other.length ? one : other;
}
