import { section } from '../requirements/requirement.ts';

export const fallbacks = section('reference/providers.md', [
  ['DS-FALLBACK-01', 'none', 'Another provider is asked where one is not there, not in time or overloaded'],
  ['DS-FALLBACK-02', 'none', 'Nobody else is asked after a denial, or where the request is at fault'],
  ['DS-FALLBACK-03', 'none', 'Hooks judge the call to each provider that is asked, and what is given out'],
  ['DS-FALLBACK-04', 'none', 'A stream that has given out text stays with its provider'],
]);

export const rates = section('reference/providers.md', [
  ['DS-RATE-01', 'none', 'Calls begin at once up to ten seconds of a limit, and then at its rate'],
  ['DS-RATE-02', 'none', 'A call that is given up while it waits takes nothing, and names the limit'],
  ['DS-RATE-03', 'none', 'Tokens are settled by what a call has used'],
  ['DS-RATE-04', 'none', 'An API that asks to wait holds all calls of its provider back'],
  ['DS-RATE-05', 'none', 'Processes that share a store in Postgres keep to one limit together'],
  [
    'DS-RATE-06',
    'none',
    'One statement serves many calls; what is taken ahead is given back, or fills up again',
  ],
]);
