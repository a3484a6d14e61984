import { section } from '../../requirements/requirement.ts';

export const promptfoo = section('guides/move-from-promptfoo.md', [
  ['DS-PROMPTFOO-02', 'none', 'What is not carried is told with its line, and never dropped.'],
  [
    'DS-PROMPTFOO-03',
    'none',
    'An import starts no program, reads files of the config’s own folder only, and writes no key.',
  ],
  [
    'DS-PROMPTFOO-04',
    'none',
    'A config that is broken, too large or asks for more than anybody runs is an error with a code.',
  ],
]);

export const promptfooVerdicts = section('reference/promptfoo.md', [
  [
    'DS-PROMPTFOO-01',
    'none',
    'What an import writes is valid, runs, and comes to the same verdict of each assertion that is carried.',
  ],
  [
    'DS-PROMPTFOO-05',
    'none',
    'Templates are filled in as Nunjucks does it, in bounded time and memory, and reach nothing beyond their variables.',
  ],
]);

export const imports = section('guides/move-from-other-programs.md', [
  [
    'DS-IMPORT-01',
    'none',
    'Results of promptfoo’s become a run that eval diff compares with one of the imported suite, variant by variant.',
  ],
  [
    'DS-IMPORT-02',
    'none',
    'Samples of Inspect’s, Ragas’ and DeepEval’s become a suite that is valid and runs.',
  ],
  [
    'DS-IMPORT-03',
    'none',
    'Scenarios of PromptKit Arena keep first turns, assertions and tools that are programs.',
  ],
  [
    'DS-IMPORT-04',
    'none',
    'A file that is none of these ends in an error with a code, or says so row by row.',
  ],
  [
    'DS-IMPORT-05',
    'none',
    'What an import writes stays in the folder that it names, and goes through no link.',
  ],
  [
    'DS-IMPORT-06',
    'none',
    'Whatever an import does not carry is reported with its file and line: a key, a value, and a value of a wrong type.',
  ],
]);
