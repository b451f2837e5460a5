// Does what it is asked to through a socket, if the address of the tab names one.

const courier = new URLSearchParams(location.search).get('courier');
if (courier) {
  const socket = new WebSocket(courier);
  const answer = async (expression) => {
    try {
      return { value: await (0, eval)(expression) };
    } catch (error) {
      return { error: String(error) };
    }
  };
  socket.onmessage = async ({ data }) => {
    const { id, expression } = JSON.parse(data);
    socket.send(JSON.stringify({ id, ...(await answer(expression)) }));
  };
}
