import { section } from '../requirements/requirement.ts';

/** A state store that many machines share. */
export const postgres = section('state-postgres.md', [
  [
    'DS-POSTGRES-01',
    'none',
    'The address is read from the variable that url_env names; without it nothing is kept elsewhere',
  ],
  ['DS-POSTGRES-02', 'none', 'Errors name the next step, and never the password'],
  ['DS-POSTGRES-03', 'none', 'What is kept in files as yet is refused with STORE_FAILED, and kept nowhere'],
  ['DS-POSTGRES-04', 'none', 'A change whose answer is lost with the connection is made once'],
  ['DS-POSTGRES-05', 'none', 'A server that comes back in time has what was told, and claims go on'],
  [
    'DS-POSTGRES-06',
    'none',
    'A claim that somebody else has taken is lost, and what is written under it is refused',
  ],
  ['DS-POSTGRES-07', 'none', 'The server gives up a machine that is gone within ten seconds'],
  ['DS-POSTGRES-08', 'none', 'A holder that stands still is ended, and what it writes afterwards is refused'],
  ['DS-POSTGRES-09', 'none', 'A pooler in transaction mode is refused'],
  [
    'DS-POSTGRES-10',
    'none',
    'Tables of a newer version are left alone, and those of an earlier one are changed by a command alone',
  ],
  ['DS-POSTGRES-11', 'none', 'A call that waits on one machine is decided on another, and goes on there'],
]);
