import { contents } from './content/groups.ts';
import { auditsAtEndpoints } from './gateway/audits.ts';
import { clientsAtEndpoints } from './gateway/clients.ts';
import { hooksAtEndpoints, upstreamsAtEndpoints } from './gateway/groups.ts';
import type { Group } from './group.ts';
import { cassetteFaults } from './surroundings/cassettes.ts';
import { clockFaults } from './surroundings/clocks.ts';
import { diskFaults } from './surroundings/disks.ts';
import { removedState } from './surroundings/removed.ts';
import { fewDescriptors, fewProcesses } from './surroundings/starved.ts';
import { streamFaults } from './surroundings/streams.ts';

export const allGroups: readonly Group[] = [
  ...contents,
  streamFaults,
  fewDescriptors,
  fewProcesses,
  diskFaults,
  clockFaults,
  removedState,
  cassetteFaults,
  hooksAtEndpoints,
  upstreamsAtEndpoints,
  clientsAtEndpoints,
  auditsAtEndpoints,
];
