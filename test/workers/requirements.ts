import { section } from '../requirements/requirement.ts';

export const workers = section('operate/workers.md', [
  [
    'DS-WORKERS-01',
    'none',
    'A run that is detached is checked, kept and named at once, and a worker executes it',
  ],
  [
    'DS-WORKERS-02',
    'none',
    'A run that waits goes on with a worker when its last call is decided or expires',
  ],
  ['DS-WORKERS-03', 'none', 'A run whose worker is gone goes on with another'],
  [
    'DS-WORKERS-04',
    'none',
    'A worker takes runs of its builds only, and those that nobody takes are listed as such',
  ],
  ['DS-WORKERS-05', 'none', 'SIGTERM: no further run, an end in peace, and what is left goes on elsewhere'],
  ['DS-WORKERS-06', 'none', 'A store of one machine is refused with the next step'],
  ['DS-WORKERS-07', 'none', 'Health tells whether the database is reached and whether jobs are taken'],
  [
    'DS-WORKERS-08',
    'none',
    'A run that was begun by hand and cut off is its person’s until it has waited and was decided',
  ],
  ['DS-WORKERS-09', 'none', 'A database that goes and comes back ends no worker, and its runs go on'],
]);

export const suites = section('operate/suite-workers.md', [
  [
    'DS-SUITES-01',
    'none',
    'Workers judge each case once, however they end, and the report is that of a single process',
  ],
  ['DS-SUITES-02', 'none', 'A run whose command is gone goes on with --resume, and what is done is done'],
  ['DS-SUITES-03', 'none', 'A worker with other files judges nothing of a run'],
  ['DS-SUITES-04', 'none', 'Of a dataset behind an address each worker reads the bytes of its parts'],
  [
    'DS-SUITES-05',
    'none',
    'Of a suite with variants each row is judged once for each of them, and the report is that of a single process, with its comparisons and gates',
  ],
]);
