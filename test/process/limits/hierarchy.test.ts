import { expect, test } from 'vitest';
import { readHierarchies } from '../../../src/process/limits/cgroup.ts';

const both = ['memory', 'pids'];

const machines = [
  {
    title: 'the second version under systemd: beside our own group, then in it',
    memberships: '0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-1.scope\n',
    mounts: '30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n',
    found: [
      {
        version: 2,
        controllers: both,
        folders: [
          '/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice',
          '/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/run-1.scope',
        ],
      },
    ],
  },
  {
    title: 'the second version in a container of its own namespace',
    memberships: '0::/\n',
    mounts: '600 599 0:26 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n',
    found: [{ version: 2, controllers: both, folders: ['/sys/fs/cgroup'] }],
  },
  {
    title: 'the first version, with hierarchies of their own, and a name that has a space',
    memberships: '8:pids:/a b\n4:memory:/\n3:cpu,cpuacct:/\n1:name=systemd:/\n',
    mounts: [
      '35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory',
      '39 31 0:36 / /my\\040groups/pids rw - cgroup cgroup rw,pids',
      '40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd',
    ].join('\n'),
    found: [
      { version: 1, controllers: ['pids'], folders: ['/my groups/pids/a b'] },
      { version: 1, controllers: ['memory'], folders: ['/sys/fs/cgroup/memory'] },
    ],
  },
  {
    title: 'the first version in a container, which sees a part of the tree',
    memberships: '4:memory:/docker/abc/deep\n8:pids:/elsewhere\n',
    mounts: [
      '35 31 0:32 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory',
      '39 31 0:36 /docker/abc /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids',
    ].join('\n'),
    found: [{ version: 1, controllers: ['memory'], folders: ['/sys/fs/cgroup/memory/deep'] }],
  },
  { title: 'no control groups', memberships: '', mounts: '23 1 0:5 / / rw - ext4 /dev/sda rw\n', found: [] },
];

test.each(machines)('$title', ({ memberships, mounts, found }) => {
  expect(readHierarchies(memberships, mounts)).toEqual(found);
});
