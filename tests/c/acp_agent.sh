# An agent in a few lines: asks for a tool, and answers only where that was refused.
read -r initialize
echo 'An agent in a few lines'
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}'
read -r session_new
echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}'
read -r prompt
echo '{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_once"}]}}'
read -r answer
case $answer in
  *'"id":7'*'"optionId":"n"'*) ;;
  *) exit 1 ;;
esac
case $initialize$session_new$prompt in
  *'"method":"initialize"'*'"method":"session/new"'*'"method":"session/prompt"'*'"text":"hello"'*) ;;
  *) exit 1 ;;
esac
echo '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I was asked 1 thing"}}}}'
echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'
