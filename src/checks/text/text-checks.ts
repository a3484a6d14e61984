import type { Check } from '../check.ts';
import { equals, levenshtein, startsWith } from './compare.ts';
import { contains, containsAny, fieldPresence } from './contains.ts';
import { bannedWords, contentExcludes } from './excludes.ts';
import { maxLength, minLength } from './length.ts';
import { regex } from './regex.ts';
import { sentenceCount } from './sentences.ts';
import { cosineSimilarity } from './similarity.ts';

export const textChecks: readonly Check[] = [
  contains,
  containsAny,
  contentExcludes,
  bannedWords,
  regex,
  minLength,
  maxLength,
  sentenceCount,
  fieldPresence,
  cosineSimilarity,
  equals,
  startsWith,
  levenshtein,
];
