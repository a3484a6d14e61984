import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { StoredModel } from '../../src/builtins/guards/injection/model.ts';
import { BUCKETS, featuresOf, sentencesOf } from '../../src/builtins/guards/injection/model.ts';
import { toPlain } from '../../src/builtins/guards/injection/rules.ts';
import { type Labelled, labelled } from './examples.ts';
import { createRandom } from './random.ts';

/** Trains both models on the sentences of this folder. The weights are byte-identical on every machine. */
export function trainWeights(): string {
  const { attack, instruction } = labelled('all');
  const head = `import type { StoredModel } from './model.ts';

// Made by \`npm run injection:train\` from the sentences in build/injection.
`;
  return `${head}
/** Attempts at an assistant against all other texts. */
export const attackWeights: StoredModel = ${write(train(attack))};

/** Instructions to an assistant against text of documents. */
export const instructionWeights: StoredModel = ${write(train(instruction))};
`;
}

const EPOCHS = 12;
const RATE = 0.5;
const DECAY = 0.000_02;

interface Example {
  readonly features: readonly number[];
  readonly norm: number;
  readonly sign: 1 | -1;
}

/**
 * A linear support vector machine, trained by averaged stochastic gradient descent. It uses only the four basic
 * operations and a square root, which IEEE 754 rounds identically everywhere.
 */
export function train(examples: readonly Labelled[]): StoredModel {
  const rows = examples.map(toExample);
  const weight = { true: shareOf(rows, -1), false: shareOf(rows, 1) };
  const random = createRandom(1);
  const state = { weights: new Float64Array(BUCKETS), bias: 0 };
  const sums = { weights: new Float64Array(BUCKETS), bias: 0 };
  let rounds = 0;
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    const rate = RATE / (1 + epoch);
    for (const row of shuffle(rows, random)) {
      const margin = row.sign * (state.bias + sumOf(state.weights, row));
      if (margin >= 1) continue;
      const step = rate * row.sign * weight[row.sign === 1 ? 'true' : 'false'];
      for (const feature of row.features) {
        state.weights[feature] = (state.weights[feature] ?? 0) + step * row.norm;
      }
      state.bias += step * 0.1;
    }
    for (let at = 0; at < BUCKETS; at++) {
      state.weights[at] = (state.weights[at] ?? 0) * (1 - DECAY * rows.length * rate);
      sums.weights[at] = (sums.weights[at] ?? 0) + (state.weights[at] ?? 0);
    }
    sums.bias += state.bias;
    rounds += 1;
  }
  return store(
    sums.weights.map((sum) => sum / rounds),
    sums.bias / rounds,
  );
}

/** Returns twice the share of the examples with this sign. */
function shareOf(rows: readonly Example[], sign: 1 | -1): number {
  const count = rows.filter((row) => row.sign === sign).length;
  return (2 * count) / rows.length;
}

function toExample({ text, isPositive }: Labelled): Example {
  const sentences = [...sentencesOf(toPlain(text).text)];
  const { words, ending } = sentences.toSorted((one, other) => other.words.length - one.words.length)[0] ?? {
    words: [],
    ending: '',
  };
  const features = featuresOf(words, ending);
  return { features, norm: 1 / Math.sqrt(features.length), sign: isPositive ? 1 : -1 };
}

function sumOf(weights: Float64Array, { features, norm }: Example): number {
  let sum = 0;
  for (const feature of features) sum += weights[feature] ?? 0;
  return sum * norm;
}

function shuffle<Value>(values: readonly Value[], random: () => number): readonly Value[] {
  const left = [...values];
  return values.map(() => {
    const at = Math.floor(random() * left.length);
    const last = left.pop();
    const picked = left[at] ?? last;
    if (at < left.length && last !== undefined) left[at] = last;
    if (picked === undefined) throw new Error('there is nothing left to pick');
    return picked;
  });
}

/** Quantizes the weights to one-byte integers. */
function store(weights: Float64Array, bias: number): StoredModel {
  const scale = weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0);
  const bytes = Int8Array.from(weights, (weight) => Math.round((weight / scale) * 127));
  const rounded = (value: number) => Math.round(value * 10_000) / 10_000;
  return {
    bias: rounded(bias),
    scale: rounded(scale),
    weights: Buffer.from(bytes.buffer).toString('base64'),
  };
}

function write({ bias, scale, weights }: StoredModel): string {
  return `{\n  bias: ${bias},\n  scale: ${scale},\n  weights:\n    '${weights}',\n}`;
}

/** The file of the trained weights. */
export const weightsFile: string = fileURLToPath(
  new URL('../../src/builtins/guards/injection/weights.ts', import.meta.url),
);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const weights = trainWeights();
  const isSame = readFileSync(weightsFile, 'utf8') === weights;
  if (!isSame) writeFileSync(weightsFile, weights);
  process.stdout.write(`${weightsFile} ${isSame ? 'is as it was' : 'was written'}\n`);
}
