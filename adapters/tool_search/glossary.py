"""Words that mean nearly the same where tools are asked for, in English and Korean.

A line is one meaning. Whoever asks with one of its words finds tools that are described with another, so a tool that
somebody else described in English is found in Korean without a tag. A word may stand in several lines. Of Korean words
the stem is written, of English words any form.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from adapters.tool_search import english, korean

LINES: Final = """
# ── acts ──
cancel void annul revoke withdraw abort drop 취소 철회 무효
undo reverse revert rollback 되돌 원복 롤백
stop halt end terminate quit discontinue cease 중지 중단 종료 그만 멈춰 멈추 끊어
pause suspend freeze hold 보류 일시정지 정지 멈춰 묶어
resume continue unfreeze unhold proceed 재개 계속 진행
release free unblock unlock clear 해제 풀어 풀기
create make add new open start begin 생성 만들 추가 신규 새로
register enter record log enrol enroll 등록 기록 입력 남겨 적어
write compose draft prepare 작성 초안 써줘 적어
change update edit modify correct amend alter adjust fix 변경 수정 바꿔 바꾸 고쳐 정정 갱신
replace swap exchange substitute switch renew 교체 교환 바꿔 갈아
delete remove erase purge wipe forget destroy 삭제 제거 지워 지우 파기 빼줘 빼기
send deliver dispatch forward transmit 발송 전송 보내 송부
get read show view look display see check inspect 조회 확인 보여 열람 알려
list overview enumerate history 목록 내역 리스트 이력 전체 현황
find search locate query dig 검색 찾아 찾기
approve accept allow authorize confirm permit agree endorse 승인 허가 허락 결재 수락
reject refuse decline deny disapprove 거절 반려 거부
assign allocate appoint delegate 배정 지정 할당 맡겨 맡게 담당
share grant give entitle 공유 부여
revoke deprive withdraw 회수 박탈 걷어
move shift transfer relocate bring 이동 옮겨 옮기 이관
merge combine unite join consolidate deduplicate 병합 합쳐 합치 통합
book reserve schedule arrange 예약 잡아 잡기
postpone delay reschedule defer 연기 미뤄 미루 늦춰
submit file lodge apply 제출 신청 접수 올려
answer reply respond response 답장 회신 답변 답신 응답
notify inform announce tell alert 알림 공지 알려 통지 안내
remind nudge chase dun urge 독촉 재촉 상기 알림
escalate urgent critical priority severe furious 긴급 에스컬레이션 급해 시급 우선순위
close finish complete finalize resolve solve conclude 마감 완료 종결 닫아 해결 마무리
reopen recur 재오픈 재발 다시
retry repeat 재시도 다시 재차
calculate compute estimate quote assess 계산 산출 견적 추정
forecast predict projection expect 예측 예상 전망
compare match reconcile tally 대조 대사 비교 맞춰
export download extract dump 내보내 다운로드 추출 내려받 뽑아
print label sticker 출력 인쇄 라벨 스티커
translate translation language localize 번역 통역 언어 영어 한국어 일본어 중국어 영문 국문
sign signature seal countersign 서명 사인 날인 도장 싸인
restart reboot bounce 재시작 재기동 리부팅 껐다
deploy release publish launch ship rollout 배포 릴리스 출시 반영
build compile test pipeline 빌드 컴파일 테스트 파이프라인
hire recruit employ 채용 구인 모집 고용
leave resign quit depart dismiss 퇴사 퇴직 사직 그만두
onboard join newcomer intern 입사 온보딩 신입 인턴
buy purchase acquire 구매 구입 매입
sell sale sold 판매 매출 팔아 팔린
collect pickup fetch 수거 픽업 회수 집하
return 반품 반송 돌려보내
refund reimburse repay payback 환불 환급 반환 돌려
pay payment charge transaction 결제 지불 납부 지급 청구
authorize authorization hold preauthorization 가승인 승인
claim compensation compensate damages 보상 배상 손해
lose lost missing vanish 분실 잃어 없어진
damage broken crushed defective smashed 파손 깨진 깨졌 불량 고장 부서
complain complaint grievance 불만 민원 항의 컴플레인
# ── things ──
money amount sum cash fund 돈 금액 대금 금전
price cost rate fee tariff 가격 요금 단가 판매가 값
card visa mastercard 카드 신용카드 체크카드
bank account iban deposit 은행 계좌 통장 예금
invoice bill 청구서 계산서 세금계산서 인보이스
unpaid overdue outstanding late arrears behind 미납 연체 미수 미수금 밀린
dispute chargeback contest 차지백 분쟁 이의
evidence proof receipt document 증빙 증거 영수증 소명
credit point loyalty goodwill mileage 적립금 포인트 크레딧 마일리지
balance remaining left remainder 잔액 잔여 남은 남았 잔고
ledger journal bookkeeping posting booking accounting debit 분개 전표 장부 회계 기장
period month year quarter fiscal 기간 월말 연말 분기 회계연도
subscription membership plan tier seat 구독 멤버십 요금제 플랜 정기결제
order 주문 오더
line item article product sku piece unit goods 품목 상품 제품 물건 개수 수량
supplier vendor manufacturer wholesaler 공급사 공급업체 협력사 협력업체 납품업체 제조사 벤더
po procurement procure 발주 발주서 구매
customer client buyer consumer patron shopper 고객 손님 거래처 소비자 구매자 회원
person people somebody individual 사람 개인 인물
contact phone number telephone mobile 연락처 전화 전화번호 휴대폰 번호
prospect lead interest 잠재 가망 리드
deal opportunity pipeline 딜 수주 영업
salesperson sales rep seller 영업 세일즈 영업사원
coupon voucher discount promo promotion code 쿠폰 할인 프로모션 할인권
address street home destination 주소 배송지 집
parcel package box consignment shipment pallet 택배 소포 상자 배송 짐 화물
carrier courier ups dhl fedex logistics 택배사 기사 운송사 배송사 물류
tracking whereabouts eta 추적 위치 어디까지 도착
waybill 송장 운송장
warehouse depot store storage 창고 물류센터 보관
stock inventory supply 재고 물량 비축
shortage soldout depleted scarce 품절 부족 소진 바닥
inbound receipt arrival 입고 납품 도착 반입
size colour color larger smaller 사이즈 치수 색상 크기
fraud suspicious stolen scam 사기 의심 도난 도용 부정
mail email inbox mailbox letter 메일 이메일 전자우편 편지 편지함
sms text texting 문자 메시지 카톡 알림톡
message note 메시지 쪽지 메모
comment remark annotation 댓글 코멘트 메모
channel slack chat team 채널 슬랙 메신저 단톡 팀
meeting event appointment call session workshop conference 회의 미팅 일정 약속 모임 워크숍
calendar agenda diary busy 캘린더 달력 일정 스케줄
room boardroom venue place 회의실 공간 장소 방
slot available availability free 빈 비는 가능 여유
absence away vacation 부재 부재중 자리비움
leave vacation holiday pto 휴가 연차 반차 월차 쉬는 쉬고
employee staff colleague worker 직원 사원 임직원 동료
salary wage pay payroll payslip earn 급여 월급 임금 봉급 연봉
expense spending cost travel taxi hotel 경비 비용 출장 출장비 지출
position vacancy job opening 일자리 공고 포지션 자리
candidate applicant interviewee 지원자 후보 후보자
interview 면접 인터뷰
report summary statement 보고서 리포트 집계 보고
figure metric kpi number indicator statistic 지표 수치 숫자 통계
chart graph dashboard visual screen 차트 그래프 대시보드 화면 현황판
revenue turnover income sales 매출 수익 실적
demand 수요 판매량
weekly daily monthly recurring regularly 매주 매일 매월 정기 주기
spreadsheet excel csv table 엑셀 스프레드시트 시트 표
file document page paper text wiki 문서 파일 자료 페이지 서류
policy guideline rule handbook manual 규정 지침 정책 매뉴얼 가이드
minutes memo template proposal 회의록 기안 기안서 양식 제안서
contract agreement lease 계약 계약서 협약
access permission right role privilege admin 권한 접근 역할 관리자
password pin passcode credential 비밀번호 비번 암호 패스워드
login signin logon lockout locked 로그인 잠금 잠김 잠겼
key token secret 키 토큰 비밀키 인증키
code source repository repo function 코드 소스 레포 저장소 함수
pr branch review 피알 브랜치 리뷰
version build 버전 빌드
production live staging environment 운영 라이브 스테이징 환경
service server instance system app 서비스 서버 시스템 앱
error exception crash failure bug fault outage 에러 오류 장애 버그 예외
ticket case issue incident inquiry 티켓 문의 이슈 건
queue backlog waiting pending 대기 미처리 밀린
consent optin permission newsletter 동의 수신 마케팅
advertising marketing promotion mailing newsletter spam 광고 마케팅 홍보 뉴스레터
optout unsubscribe 거부 수신거부 차단
privacy gdpr personal 개인정보 프라이버시
apology sorry apologize 사과 미안 죄송
quotation offer bid proposal 견적 견적서 제안
duplicate double twice 중복 같은 이중
"""


def meanings(token: str) -> tuple[str, ...]:
    """What a token means, as tokens of their own that no text holds."""
    return _MEANINGS.get(token, ())


def lines() -> list[list[str]]:
    """The words of each meaning."""
    return [line.split() for line in LINES.splitlines() if line and not line.startswith("#")]


def _by_token() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, list[str]] = defaultdict(list)
    for place, line in enumerate(lines()):
        for token in dict.fromkeys(map(_token, line)):
            found[token].append(f"={place}")
    return {token: tuple(places) for token, places in found.items()}


def _token(word: str) -> str:
    return english.stem(word) if word.isascii() else korean.cut(word)


_MEANINGS: Final = _by_token()
