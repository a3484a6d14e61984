// What `loadView()` gives. Loaded only when it is asked for.

export { addressOfRun } from '../../suites/report/html/runs-page.ts';
export { defaultPort, serveView } from './serve-view.ts';
export { idOfFile } from './shelf.ts';
