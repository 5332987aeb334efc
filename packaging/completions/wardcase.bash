# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
# Made from the table of options by packaging/generate; not to be edited.
# shellcheck shell=bash

# Tells by $wanted what stands at the cursor: the option whose value it is, "word" for a
# word of ours, "program" for one of the program's, "command" for the program of --.
_wardcase_look() {
  local i=2 word
  wanted=word
  while ((i < COMP_CWORD)); do
    word=${COMP_WORDS[i]}
    case $word in
      --) wanted='command' && ((COMP_CWORD > i + 1)) && wanted=program; return ;;
      -?*) if [[ " $1 " == *" $word "* ]]; then
          ((++i < COMP_CWORD)) && [[ ${COMP_WORDS[i]} == '=' ]] && ((++i))
          ((i >= COMP_CWORD)) && { wanted=$word; return; }
        elif [[ ${COMP_WORDS[i + 1]} == '=' ]]; then
          ((i + 2 >= COMP_CWORD)) && { wanted=$word; return; }
        fi ;;
      *) wanted=program; return ;;
    esac
    ((++i))
    while ((i < COMP_CWORD)) && [[ ${COMP_WORDS[i]} == [:=] ]]; do ((i += 2)); done
  done
}

_wardcase() {
  local cur=${COMP_WORDS[COMP_CWORD]} wanted='' offered='' word words
  [[ $cur == '=' ]] && cur=
  COMPREPLY=()
  case ${COMP_WORDS[1]} in
    *) ((COMP_CWORD == 1)) && offered='run explain policy config serve token session exec repl logs kill cp ls cat check languages gc doctor version help' ;;&
    run)
      _wardcase_look '-l --language -c --code --session --interpreter --requirement --requirements --prelude -e --env --env-file -w --workdir -v --volume --workspace --network --policy --allow-syscalls --stdin --file --timeout --cpu-time --idle-timeout --grace -m --memory --pids --cpus --disk --file-size --open-files --capture-limit --output-limit --status-fd --encoding-fallback --save-output --out --meta --color'
      case $wanted in
        word) [[ $cur == -* ]] && offered='-l --language -c --code --session --interpreter --requirement --requirements --prelude -e --env --env-file -w --workdir --validate --dry-run -v --volume --workspace --network --policy --allow-syscalls -i --interactive -t --tty --stdin --file --timeout --cpu-time --idle-timeout --grace -m --memory --pids --cpus --disk --file-size --open-files --capture-limit --output-limit --merge-stderr --json --events --status-fd --base64 --encoding-fallback --save-output --out --meta --timing --exit-zero -q --quiet --verbose --color -h --help' ;;
        command) offered=$(compgen -c -- "$cur") ;;
        -l | --language) offered='bash c++ c go java javascript lua perl php powershell python r ruby rust typescript' ;;
        --dry-run) offered='json' ;;
        --network) offered='none host' ;;
        --policy) offered=$(wardcase policy list 2>/dev/null | cut -d ' ' -f 1) ;;
        --color) offered='auto always never' ;;
      esac
      ;;
    explain)
      _wardcase_look ''
      case $wanted in
        word) [[ $cur == -* ]] && offered='--json' ;;
      esac
      ;;
    policy)
      _wardcase_look ''
      case $wanted in
        word) offered='list show check'; [[ $cur == -* ]] && offered='--resolved --origin' ;;
        program) offered=$(wardcase policy list 2>/dev/null | cut -d ' ' -f 1)
          [[ $cur == -* ]] && offered='--resolved --origin' ;;
      esac
      ;;
    config)
      _wardcase_look ''
      case $wanted in
        word) offered='show check'; [[ $cur == -* ]] && offered='--origin' ;;
      esac
      ;;
    serve)
      _wardcase_look '--listen --tokens --max-runs --max-queue --memory-total --max-sessions --keep-runs --keep-time --max-connections --max-body --max-held --header-timeout --body-timeout --idle-timeout --send-timeout --drain-timeout'
      case $wanted in
        word) [[ $cur == -* ]] && offered='--listen --tokens --max-runs --max-queue --memory-total --max-sessions --keep-runs --keep-time --max-connections --max-body --max-held --header-timeout --body-timeout --idle-timeout --send-timeout --drain-timeout' ;;
      esac
      ;;
    token)
      _wardcase_look '--name --scope --expires --file'
      case $wanted in
        word) offered='create list revoke'; [[ $cur == -* ]] && offered='--name --scope --expires --file --json' ;;
        --scope) offered='run session admin' ;;
      esac
      ;;
    session)
      _wardcase_look '--id -l --language --ttl --idle-ttl --requirement --requirements --prelude -e --env --env-file -v --volume --network --policy --allow-syscalls --timeout --cpu-time --idle-timeout --grace -m --memory --pids --cpus --disk --file-size --open-files --capture-limit --output-limit'
      case $wanted in
        word) offered='new ls rm extend reset interrupt input'; [[ $cur == -* ]] && offered='--id -l --language --ttl --idle-ttl --json --requirement --requirements --prelude -e --env --env-file -v --volume --network --policy --allow-syscalls --timeout --cpu-time --idle-timeout --grace -m --memory --pids --cpus --disk --file-size --open-files --capture-limit --output-limit --eof -n --no-newline' ;;
        -l | --language) offered='python javascript bash' ;;
        --network) offered='none host' ;;
        --policy) offered=$(wardcase policy list 2>/dev/null | cut -d ' ' -f 1) ;;
      esac
      ;;
    exec)
      _wardcase_look '-l --language -c --code --file --requirement --requirements --yield --yield-idle --out --timeout --cpu-time --idle-timeout --grace --capture-limit --output-limit'
      case $wanted in
        word) [[ $cur == -* ]] && offered='-l --language -c --code -i --interactive --file --validate --requirement --requirements --yield --yield-idle --json --events --base64 --out -q --quiet --timeout --cpu-time --idle-timeout --grace --capture-limit --output-limit' ;;
        -l | --language) offered='python javascript bash' ;;
      esac
      ;;
    repl)
      _wardcase_look '-l --language'
      case $wanted in
        word) [[ $cur == -* ]] && offered='-l --language' ;;
        -l | --language) offered='python javascript bash' ;;
      esac
      ;;
    logs)
      _wardcase_look '--since'
      case $wanted in
        word) [[ $cur == -* ]] && offered='--since -f --follow' ;;
      esac
      ;;
    ls)
      _wardcase_look ''
      case $wanted in
        word) [[ $cur == -* ]] && offered='-l --long --json' ;;
      esac
      ;;
    check)
      _wardcase_look '-l --language -c --code --interpreter -v --volume --workspace --policy --file --timeout -m --memory --pids --color'
      case $wanted in
        word) [[ $cur == -* ]] && offered='-l --language -c --code --interpreter -v --volume --workspace --policy --file --timeout -m --memory --pids --json --exit-zero -q --quiet --verbose --color' ;;
        -l | --language) offered='bash c++ c go java javascript lua perl php powershell python r ruby rust typescript' ;;
        --policy) offered=$(wardcase policy list 2>/dev/null | cut -d ' ' -f 1) ;;
        --color) offered='auto always never' ;;
      esac
      ;;
    languages)
      _wardcase_look ''
      case $wanted in
        word) [[ $cur == -* ]] && offered='--json' ;;
      esac
      ;;
    gc)
      _wardcase_look '--older-than --keep-size'
      case $wanted in
        word) [[ $cur == -* ]] && offered='--dry-run --older-than --keep-size --json' ;;
      esac
      ;;
    doctor)
      _wardcase_look '--color'
      case $wanted in
        word) [[ $cur == -* ]] && offered='--json --color' ;;
        --color) offered='auto always never' ;;
      esac
      ;;
    help)
      _wardcase_look '--completion'
      case $wanted in
        word) [[ $cur == -* ]] && offered='--completion --man' ;;
        --completion) offered='bash zsh fish' ;;
      esac
      ;;
  esac
  # Not by compgen -W, which would expand what names of files and policies hold.
  read -r -d '' -a words <<<"$offered"
  for word in "${words[@]}"; do
    [[ $word == "$cur"* ]] && COMPREPLY+=("$word")
  done
}
complete -o default -F _wardcase wardcase
