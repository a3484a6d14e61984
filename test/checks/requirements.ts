import { section } from '../requirements/requirement.ts';

/** Evals that are built in. */
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
