import { section } from '../../requirements/requirement.ts';

export const chaos = section('reference/doctor.md', [
  [
    'DS-CHAOS-01',
    'none',
    'A native filter denies with every fault, one-shot or server, at each of its phases.',
  ],
  [
    'DS-CHAOS-02',
    'none',
    'What a rule of a foreign system lets pass is told with that rule; `on_failure: deny` closes it.',
  ],
  ['DS-CHAOS-03', 'none', 'No command, endpoint or plugin of the config is started or called.'],
  ['DS-CHAOS-04', 'none', 'A filter that passes without a documented rule makes the exit code 1.'],
  [
    'DS-CHAOS-05',
    'none',
    '--json prints {"cells", "denied", "open": [{"hook", "fault", "rule"}]} and nothing else.',
  ],
  [
    'DS-CHAOS-06',
    'none',
    '--junit writes a testcase for each cell, and a failure for what passes without a rule.',
  ],
  ['DS-CHAOS-07', 'none', 'Observers, shadows and hooks without a process are told as not asked.'],
  ['DS-CHAOS-08', 'none', 'A config without filters has 0 cells and exits 0; one with errors exits 2.'],
  ['DS-CHAOS-09', 'none', 'Ctrl-C ends it with 130, and leaves no process and no file behind.'],
]);

export const checks = section('reference/doctor.md', [
  ['DS-DOCTOR-01', 'none', 'doctor starts no command of the config, and makes no file.'],
  ['DS-DOCTOR-02', 'none', 'A config of which nothing would fail exits 0; warnings do not change that.'],
  [
    'DS-DOCTOR-03',
    'none',
    'A missing command, script, interpreter or folder is an error with FILE:LINE:COL and a hint.',
  ],
  ['DS-DOCTOR-04', 'none', 'A config with errors exits 1, with what can be checked without it.'],
  [
    'DS-DOCTOR-05',
    'none',
    'Without a config the machine is checked; a config that was named and cannot be read exits 2.',
  ],
  [
    'DS-DOCTOR-06',
    'none',
    'The state store is checked for access, privacy, room and damage, and not changed.',
  ],
  [
    'DS-DOCTOR-07',
    'none',
    'Providers are checked for address and key, which is not shown; the listen address for being free.',
  ],
  ['DS-DOCTOR-08', 'none', 'Many good checks of one kind are one line.'],
  [
    'DS-DOCTOR-09',
    'none',
    'Sandboxes that entries name are tried as at load, and told where they are declared.',
  ],
  [
    'DS-DOCTOR-10',
    'none',
    'By which means limits are held is tried out and told; nothing stays of the trial.',
  ],
]);
