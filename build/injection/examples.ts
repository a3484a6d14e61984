import { readFileSync } from 'node:fs';
import { attacks, documents, hard, requests } from './corpus.ts';
import { expand } from './grammar.ts';
import { lists } from './words.ts';

export interface Labelled {
  readonly text: string;
  readonly isPositive: boolean;
}

/** The training examples of both models. */
export interface Examples {
  /** Attempts, against everything else. */
  readonly attack: readonly Labelled[];
  /** Text addressed to an assistant (attempts and requests), against text of documents. */
  readonly instruction: readonly Labelled[];
}

/**
 * Returns the sentences for training or for the test. Every fifth pattern belongs to the test with all its sentences,
 * so that no test sentence has a near duplicate in the training set.
 */
export function labelled(part: Part): Examples {
  const [bad, asked, close, said] = [attacks, requests, hard, documents].map((text, at) =>
    sentencesOf(text, at + 1, part),
  );
  const prose = proseSentences().filter((_, at) => isOf(part, at));
  const label = (texts: readonly string[] | undefined, isPositive: boolean): readonly Labelled[] =>
    (texts ?? []).map((text) => ({ text, isPositive }));
  return {
    attack: [...label(bad, true), ...[asked, close, said, prose].flatMap((texts) => label(texts, false))],
    instruction: [...label(bad, true), ...label(asked, true), ...label(said, false), ...label(prose, false)],
  };
}

/** All sentences, the training set of a model under test, or its test set. */
export type Part = 'all' | 'train' | 'test';

function isOf(part: Part, family: number): boolean {
  return part === 'all' || (family % 5 === 4) === (part === 'test');
}

/** Number of sentences per pattern. */
const COUNT = 30;

function sentencesOf(text: string, seed: number, part: Part): readonly string[] {
  const families = text
    .trim()
    .split('\n')
    .map((pattern) => ({ pattern, count: COUNT }));
  return expand(families, lists, seed)
    .filter(({ family }) => isOf(part, family))
    .map(({ text: sentence }) => sentence);
}

/** Sentences of this project's pages and licence, which do not address an assistant. */
function proseSentences(): readonly string[] {
  const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8');
  const licence = read('../../LICENSE')
    .replaceAll(/\s+/g, ' ')
    .split(/(?<=[.;:]) /);
  return [...read('prose.txt').trim().split('\n'), ...licence].filter((text) => text.split(' ').length >= 4);
}
