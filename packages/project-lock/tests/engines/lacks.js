// Takes away from a tab what its address says that it lacks, before anything looks for it. For browsers whose drivers cannot
// run a script that early.

for (const lack of (new URLSearchParams(location.search).get('lacks') ?? '').split(',')) {
  if (lack === 'locks') Reflect.deleteProperty(Navigator.prototype, 'locks');
  if (lack === 'opfs' && 'StorageManager' in window) Reflect.deleteProperty(StorageManager.prototype, 'getDirectory');
  if (lack === 'worker') Reflect.deleteProperty(window, 'Worker');
}
