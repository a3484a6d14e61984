import { section } from '../requirements/requirement.ts';

export const authors = section('reference/author-helpers.md', [
  ['DS-AUTHOR-01', 'none', 'The helpers of all languages give the same replies, one-shot and as servers.'],
  ['DS-AUTHOR-02', 'none', 'No function of a helper decides about an empty or broken request: it fails.'],
  ['DS-AUTHOR-03', 'none', 'A server survives lines that are no requests, and answers the others.'],
  ['DS-AUTHOR-04', 'none', 'Numbers keep their digits, as far as the language allows.'],
  [
    'DS-AUTHOR-05',
    'none',
    'The scripts of init pass every check of conform, in every mode of their language.',
  ],
  ['DS-AUTHOR-06', 'none', 'The types of signalbox/author are those of the payloads.'],
]);
