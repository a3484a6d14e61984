import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { configText, folder, native, promptkit, told } from '../told.ts';

function read(section: string, apiVersion: string) {
  const { config, problems } = told(configText(apiVersion, `\nconcurrency: 1\n${section}`));
  return { store: config?.stateStore, problems };
}

const standard = { type: 'sqlite', file: join(folder, '.signalbox/state.db') };

describe.each([native, promptkit])('in %s', (apiVersion) => {
  test.each([
    { title: 'no store', section: '', store: standard, problems: [] },
    { title: 'nothing said of it', section: 'state_store: ', store: standard, problems: [] },
    { title: 'no type', section: 'state_store: {}', store: standard, problems: [] },
    { title: 'memory', section: 'state_store: {type: memory}', store: { type: 'memory' }, problems: [] },
    { title: 'sqlite', section: 'state_store: {type: sqlite}', store: standard, problems: [] },
    {
      title: 'a path beside the file',
      section: 'state_store: {type: sqlite, path: var/runs.db}',
      store: { type: 'sqlite', file: join(folder, 'var/runs.db') },
      problems: [],
    },
    {
      title: 'an absolute path, without a type',
      section: 'state_store: {path: /var/lib/runs.db}',
      store: { type: 'sqlite', file: '/var/lib/runs.db' },
      problems: [],
    },
    {
      title: 'postgres',
      section: 'state_store: {type: postgres, url_env: DATABASE_URL}',
      store: { type: 'postgres', urlEnv: 'DATABASE_URL', folder: join(folder, '.signalbox') },
      problems: [],
    },
    {
      title: 'postgres without the name of its variable',
      section: 'state_store: {type: postgres}',
      store: undefined,
      problems: [
        'error 5:3 state_store.url_env: is required if type is postgres | Name the environment variable that holds the address, as in `url_env: DATABASE_URL`.',
      ],
    },
    {
      title: 'the variable of another type',
      section: 'state_store: {type: sqlite, url_env: DATABASE_URL}',
      store: standard,
      problems: [
        'warning 5:31 state_store.url_env: is not used: it belongs to type postgres, and the type is sqlite',
      ],
    },
    {
      title: 'PromptKit’s folder',
      section: 'state_store: {type: file, file: {root: state, fsync: off, ttl_days: 3}}',
      store: { type: 'sqlite', file: join(folder, 'state/state.db') },
      problems: [
        'warning 5:49 state_store.file.fsync: is accepted and not used',
        'warning 5:61 state_store.file.ttl_days: is accepted and not used',
      ],
    },
    {
      title: 'PromptKit’s folder without its name',
      section: 'state_store: {type: file, file: {}}',
      store: undefined,
      problems: [
        'error 5:29 state_store.file.root: is required if type is file | Name the folder, or use `type: sqlite`.',
      ],
    },
    {
      title: 'settings of another type',
      section: 'state_store: {type: memory, path: x.db, redis: {address: a}}',
      store: { type: 'memory' },
      problems: [
        'warning 5:31 state_store.path: is not used: it belongs to type sqlite, and the type is memory',
        'warning 5:43 state_store.redis: is not used: it belongs to type redis, and the type is memory',
      ],
    },
    {
      title: 'a word in place of the section',
      section: 'state_store: memory',
      store: undefined,
      problems: ['error 5:16 state_store: must be a mapping, not the string "memory"'],
    },
  ])('$title', ({ section, store, problems }) => {
    expect(read(section, apiVersion)).toEqual({ store, problems });
  });
});

test.each(['redis', 'etcd', '5'])('type %s is refused on use, and no other store replaces it', (type) => {
  const { store } = read(`state_store: {type: ${type}}`, promptkit);
  expect(store).toEqual({ type: 'refused', reason: `state_store.type is ${type}, which is not supported` });
});
