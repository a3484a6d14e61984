import { expect, test } from 'vitest';
import { onTransports, titled } from './cite.ts';

const rows = [
  { title: 'on both', cites: 'XX-1@both' },
  { title: 'on one', cites: 'XX-2@server' },
  { title: 'on both, one of them for one', cites: 'XX-1@both XX-2@server XX-3' },
  { title: 'on each by name', cites: 'XX-1@oneshot XX-2@server' },
  { title: 'on none', cites: 'XX-3' },
];

test('a row runs on the transports it cites, and its title says so', () => {
  expect(onTransports(rows).map(({ on, title }) => `${on}: ${title}`)).toEqual([
    'oneshot: on both [XX-1@oneshot]',
    'server: on both [XX-1@server]',
    'server: on one [XX-2@server]',
    'oneshot: on both, one of them for one [XX-1@oneshot XX-3]',
    'server: on both, one of them for one [XX-1@server XX-2@server XX-3]',
    'oneshot: on each by name [XX-1@oneshot]',
    'server: on each by name [XX-2@server]',
    'oneshot: on none [XX-3]',
  ]);
});

test('a row without transport has its ids in its title', () => {
  expect(titled([{ title: 'loads', cites: 'XX-3 XX-4', file: 'a.yaml' }])).toEqual([
    { title: 'loads [XX-3 XX-4]', cites: 'XX-3 XX-4', file: 'a.yaml' },
  ]);
});
