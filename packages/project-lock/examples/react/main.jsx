// An editor that can be written in one tab at a time.

import React, { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { useProjectLock } from './useProjectLock.js';

function Editor() {
  const lease = useProjectLock();
  const [text, setText] = useState('');
  return (
    <>
      <p role="status">{lease ? `writing, with fence ${lease.fence}` : 'another tab writes'}</p>
      <textarea value={text} readOnly={!lease} onChange={({ target }) => setText(target.value)} />
    </>
  );
}

function App() {
  const [isOpen, setOpen] = useState(true);
  return (
    <>
      <button onClick={() => setOpen(!isOpen)}>{isOpen ? 'Close' : 'Open'}</button>
      {isOpen && <Editor />}
    </>
  );
}

createRoot(document.getElementById('root')).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
