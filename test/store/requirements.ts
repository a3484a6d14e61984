import { section } from '../requirements/requirement.ts';

export const postgres = section('operate/state-postgres.md', [
  [
    'DS-POSTGRES-01',
    'none',
    'The address is read from the variable that url_env names; without it nothing is kept elsewhere',
  ],
  ['DS-POSTGRES-02', 'none', 'Errors name the next step, and never the password'],
  ['DS-POSTGRES-03', 'none', 'What is kept in the database is kept in no file beside the config'],
  ['DS-POSTGRES-04', 'none', 'A change whose answer is lost with the connection is made once'],
  ['DS-POSTGRES-05', 'none', 'A server that comes back in time has what was told, and claims go on'],
  [
    'DS-POSTGRES-06',
    'none',
    'A claim that somebody else has taken is lost, and what is written under it is refused',
  ],
  ['DS-POSTGRES-07', 'none', 'The server gives up a machine that is gone within ten seconds'],
  ['DS-POSTGRES-08', 'none', 'A holder that stands still is ended, and what it writes afterwards is refused'],
  ['DS-POSTGRES-09', 'none', 'A pooler in transaction or statement mode is refused'],
  [
    'DS-POSTGRES-10',
    'none',
    'Tables of a newer version are left alone, and those of an earlier one are changed by a command alone',
  ],
  ['DS-POSTGRES-11', 'none', 'A call that waits on one machine is decided on another, and goes on there'],
  ['DS-POSTGRES-12', 'none', 'A pooler in session mode serves as the server itself does'],
  [
    'DS-POSTGRES-14',
    'none',
    'Results of suites are kept there too: each once, and runs go on wherever they were cut off',
  ],
  ['DS-POSTGRES-15', 'none', 'Calls expire by the clock of the database, whatever that of a machine says'],
  [
    'DS-POSTGRES-16',
    'none',
    'store copy keeps every row, text and order, compares them by digest, and keeps nothing otherwise',
  ],
  [
    'DS-POSTGRES-17',
    'none',
    'store copy refuses a target with other rows and a source whose runs are under way; again, or twice at once, it changes nothing',
  ],
  [
    'DS-POSTGRES-18',
    'none',
    'A store copy that is killed is made again by the same command, and runs go on at the target',
  ],
  ['DS-POSTGRES-13', 'none', 'A certificate is checked unless the address says not to'],
]);
