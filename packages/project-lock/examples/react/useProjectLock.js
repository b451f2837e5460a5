// A hook: asks for the project as long as the component is there, and says whether this tab may write.

import { useEffect, useState } from 'react';
import { awaitLeadership, releaseProjectLock } from '@holdfast/project-lock';

/** The lease while this tab holds the project, null while it waits. */
export function useProjectLock() {
  const [lease, setLease] = useState(null);
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    const hold = async () => {
      while (!signal.aborted) {
        const held = await awaitLeadership({ signal });
        setLease(held);
        // Until the component goes, or another tab has displaced this one while it was stopped.
        await new Promise((over) => [signal, held.signal].forEach((ends) => ends.addEventListener('abort', over)));
        setLease(null);
        if (!held.signal.aborted) await releaseProjectLock({ lease: held });
      }
    };
    // Strict mode mounts twice: the second asks when the first has given back.
    const held = (useProjectLock.last ?? Promise.resolve()).then(hold).catch((error) => {
      if (error.code !== 'web-lock-aborted') reportError(error);
    });
    useProjectLock.last = held;
    return () => abort.abort();
  }, []);
  return lease;
}
