import { section } from '../requirements/requirement.ts';

export const conform = section('guides/check-a-script.md', [
  ['DS-CONFORM-01', 'none', 'conform names each mistake of a script by the check that it breaks: exit 1.'],
  ['DS-CONFORM-02', 'none', 'A script that keeps the contract passes every check: exit 0.'],
  ['DS-CONFORM-03', 'none', 'Without --request, tools and observers get nothing from a pipe: exit 2.'],
  ['DS-CONFORM-04', 'none', 'A name or script that the config declares gets the settings of its entry.'],
  ['DS-CONFORM-05', 'none', 'Ctrl-C ends every process of the script.'],
]);

export const add = section('guides/write-tools.md', [
  ['DS-ADD-01', 'none', 'tool add writes the entry of a script, and keeps every other line of the config.'],
  ['DS-ADD-02', 'none', 'tool add refuses a taken name and a script that cannot start, and writes nothing.'],
]);
