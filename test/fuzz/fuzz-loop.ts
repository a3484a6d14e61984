import { type Material, mutate } from './mutate.ts';
import { newRandom } from './random.ts';
import type { Target } from './target.ts';
import { type Finding, minimize, tryInput } from './try-input.ts';

export interface FuzzOptions {
  /** The number of inputs, seeds included. */
  readonly inputs: number;
  readonly seed: number;
  readonly seconds?: number | undefined;
  readonly literals?: ReadonlySet<string>;
  readonly kept?: readonly string[];
  /** Whether the last input reached new code. Without it, only seeds are mutated. */
  readonly isFresh?: () => boolean;
  readonly most?: number;
  readonly onInput?: (input: string) => void;
}

export interface FuzzOutcome {
  readonly inputs: number;
  /** The smallest input for each cause. */
  readonly findings: readonly Finding[];
  /** The inputs that reached new code. */
  readonly corpus: readonly string[];
}

/** Tries seeds and mutations of them. Without coverage and a time limit, the same options give the same inputs. */
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

/** Picks a recent input half of the time, because it reached rare code, and usually prefers the shorter of two. */
function parentOf({ random, corpus }: Material): string {
  const from = random.below(2) === 0 ? Math.max(0, corpus.length - 64) : 0;
  const one = corpus[from + random.below(corpus.length - from)] ?? '';
  const other = corpus[from + random.below(corpus.length - from)] ?? '';
  if (random.below(4) === 0) return one;
  return one.length <= other.length ? one : other;
}
