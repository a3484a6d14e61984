import { section } from '../../requirements/requirement.ts';

export const builtIns = section('promptkit.md §10', [
  [
    'PK-10-01',
    'none',
    'The text, JSON, tool-call, budget and judge families are built in, with their aliases.',
  ],
  ['PK-10-02', 'none', 'An exec entry that is named like a built-in replaces it.'],
  ['PK-10-03', 'none', 'An unknown param or a missing required one is a config error.'],
  ['PK-10-04', 'none', 'Lengths count Unicode code points.'],
  ['PK-10-05', 'none', 'sentence_count applies its max.'],
  ['PK-10-06', 'none', 'A judge whose answer cannot be read is unscored.'],
  ['PK-10-07', 'none', 'cost_budget scores min(1, max/cost) for each limit and takes the lowest.'],
  ['PK-10-08', 'none', 'A pattern that JavaScript cannot compile is a config error.'],
  ['PK-10-09', 'none', 'An eval that lacks its input is unscored, never 0 or 1.'],
]);

/** Checks whose definitions others have published. */
export const published = section('reference/checks.md', [
  ['DS-CHECKS-01', 'none', 'The rules of IFEval score as in the tests of its reference implementation'],
  ['DS-CHECKS-02', 'none', 'Content that is too long to judge is unscored, with the limit'],
  [
    'DS-CHECKS-03',
    'none',
    'Faithfulness and context recall are the share of claims that a model finds supported',
  ],
  [
    'DS-CHECKS-04',
    'none',
    'An answer of a judge that is no list of claims, or none of five choices, is unscored',
  ],
  ['DS-CHECKS-05', 'none', 'Code in a config scores as an eval in a process of its own'],
  ['DS-CHECKS-06', 'none', 'Code in a config that fails is unscored, and told with its line'],
]);
